#include "core/admission/plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/admission/kept_for_request.hpp"
#include "core/model/quote.hpp"
#include "core/model/size.hpp"

namespace cgpu::admission {
namespace {

using model::Bytes;
using model::Gpu;
using model::Mode;
using model::Node;
using model::Objection;
using model::Refusal;
using request::Request;
using Reason = Refusal::Reason;

std::string describe_name(const request::GpuName& name) { return "GPU " + model::to_string(name); }

std::string present_gpus(const Node& node) {
    std::string list;
    for (const Gpu& gpu : node.gpus())
        if (gpu.present) list += (list.empty() ? "" : ", ") + std::to_string(gpu.index);
    return list.empty() ? "this node has no GPU" : "this node has GPU " + list;
}

tl::expected<const Gpu*, Refusal> find_named(const Node& node, const request::GpuName& name) {
    const auto meant = model::gpus_meant(name, node.gpus());
    if (meant.size() > 1)
        return model::refuse(Reason::invalid, describe_name(name),
                             std::to_string(meant.size()) + " GPUs begin with it",
                             "use more of the UUID that nvidia-smi -L shows");
    if (const Gpu* lost = model::lost_gpu_meant(name, node.gpus()))
        return model::refuse(
            Reason::not_found, "GPU " + std::to_string(lost->index) + " is lost",
            model::why_lost(*lost) + "; " + present_gpus(node),
            "nvidia-smi, and the kernel's log (journalctl -k), or name none to have one chosen");
    if (meant.empty())
        return model::refuse(Reason::not_found, describe_name(name), "it is not there; " + present_gpus(node),
                             "name a GPU that nvidia-smi -L shows, or name none to have one chosen");
    return meant.front();
}

/// The mode that the GPUs must have or get; empty: any.
std::optional<Mode> mode_asked_for(const Request& request, const Defaults& defaults) {
    return request.mode ? request.mode : defaults.mode;
}

/// The mode in which a request without a mode uses the GPU: the one that it serves, but nothing weaker than
/// what is configured. Who came first with a weaker mode must not take the limits from those who ask for
/// none.
Mode usual_mode(const Node& node, const Gpu& gpu) {
    return std::max(node.mode_in_force(gpu), gpu.settings.mode);
}

/// The mode of a request without a mode that names its GPUs: the strongest of theirs.
Mode mode_of_named(const Node& node, const std::vector<const Gpu*>& gpus) {
    Mode mode = Mode::none;
    for (const Gpu* gpu : gpus) mode = std::max(mode, usual_mode(node, *gpu));
    return mode;
}

Bytes nominal_memory(const Request& request, std::size_t position) {
    if (const auto kept = request.kept_at(position).memory_limit) return *kept;
    const request::MemoryAsk* ask = request.memory_at(position);
    if (ask == nullptr) return {};
    if (const auto* share = std::get_if<request::CardShare>(ask))
        return share->in_mib ? Bytes::from_mib(share->gib) : Bytes::from_gib(share->gib);
    return std::get<Bytes>(*ask);
}

/// 0: the requested weight, 1: less, 2: none.
int shortfall(const Seat& seat) {
    if (seat.quota.weight == seat.wanted_weight) return 0;
    return seat.quota.weight > 0 ? 1 : 2;
}

/// Whether `a` is preferred; compared in the order of the GPUs, so equal seats go to the lower index.
bool is_better(const Seat& a, const Seat& b, Placement placement) {
    if (shortfall(a) != shortfall(b)) return shortfall(a) < shortfall(b);
    switch (placement) {
        case Placement::binpack:
            return a.free_before < b.free_before;
        case Placement::spread:
            return a.free_before > b.free_before;
    }
    return false;
}

/// Why GPUs could not be used, for the refusal.
struct Misfit {
    const Gpu* gpu;
    Objection objection;
};

struct Attempt {
    std::vector<Seat> seats;  ///< empty: the request does not fit
    std::vector<Misfit> misfits;
    std::size_t fitting = 0;  ///< how many GPUs were found before there were no more
};

/// Places the largest amount first: a GPU that it fits on would fit every smaller one as well.
Attempt place_among(const Node& node, const std::vector<const Gpu*>& gpus, const Request& request, Mode mode,
                    const Defaults& defaults) {
    Attempt attempt;
    std::vector<std::size_t> positions(request.count);
    std::iota(positions.begin(), positions.end(), std::size_t{0});
    std::stable_sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) {
        return nominal_memory(request, a) > nominal_memory(request, b);
    });
    std::vector<Seat> seats(request.count);
    std::set<const Gpu*> taken;
    for (const std::size_t position : positions) {
        std::optional<Seat> best;
        attempt.misfits.clear();
        for (const Gpu* gpu : gpus) {
            if (taken.contains(gpu)) continue;
            auto seat = find_seat(node, *gpu, request, position, mode, defaults);
            if (!seat)
                attempt.misfits.push_back({gpu, seat.error()});
            else if (!best || is_better(*seat, *best, defaults.placement))
                best = *seat;
        }
        if (!best) return attempt;
        taken.insert(best->gpu);
        ++attempt.fitting;
        seats[position] = *best;
    }
    attempt.seats = std::move(seats);
    return attempt;
}

bool is_better(const Plan& a, const Plan& b, Placement placement) {
    return std::lexicographical_compare(
        a.seats.begin(), a.seats.end(), b.seats.begin(), b.seats.end(),
        [placement](const Seat& x, const Seat& y) { return is_better(x, y, placement); });
}

/// Why GPUs could not be used: `GPU 0: 1024MiB of 16130MiB is free; GPUs 1, 2: …`. What is asked for is said
/// in `what` or once, and GPUs with one reason share it.
std::string reasons_of(const std::string& what, const std::vector<Misfit>& misfits) {
    std::set<std::string> said;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    struct Group {
        std::string text;
        std::vector<std::uint32_t> gpus;
    };
    std::vector<Group> reasons;
    for (const auto& [gpu, objection] : misfits) {
        const auto [place, fresh] = known.try_emplace({objection.asked, objection.why}, reasons.size());
        if (fresh) {
            const auto& asked = objection.asked;
            const bool again = what == asked || what.starts_with(asked + " ") || !said.insert(asked).second;
            reasons.push_back({again ? objection.why : objection.text(), {}});
        }
        reasons[place->second].gpus.push_back(gpu->index);
    }
    std::string text;
    for (const auto& [why, gpus] : reasons) {
        text += (text.empty() ? "" : "; ") + std::string(gpus.size() == 1 ? "GPU " : "GPUs ");
        for (std::size_t i = 0; i < gpus.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(gpus[i]);
        text += ": " + why;
    }
    return text;
}

/// What could be done about GPUs that take nothing, and about those that are drained.
std::string remedy_for(const std::vector<Misfit>& misfits) {
    const auto is_drained = [](const Misfit& misfit) { return misfit.objection.why == kDrained; };
    std::string undrain;
    for (const Misfit& misfit : misfits)
        if (is_drained(misfit))
            undrain += (undrain.empty() ? "cgpuctl undrain " : " ") + std::to_string(misfit.gpu->index);
    // Less wouldn't fit on GPUs that take nothing.
    const bool in_vain = !misfits.empty() && std::ranges::all_of(misfits, [&](const Misfit& misfit) {
        return misfit.objection.reason == Reason::unsupported || is_drained(misfit);
    });
    if (in_vain) return undrain.empty() ? "cgpuctl doctor, which says what ends that" : undrain;
    return "ask for less, or stop an instance (cgpuctl list shows them)" +
           (undrain.empty() ? "" : ", or " + undrain);
}

Refusal refusal_of(const std::string& what, const std::vector<Misfit>& misfits, std::size_t fitting,
                   std::uint32_t count) {
    if (misfits.size() == 1 && count == 1)
        return refuse(what + " on " + describe(*misfits.front().gpu), misfits.front().objection).value();
    std::string why = reasons_of(what, misfits);
    if (misfits.empty() && fitting == 0)
        why = "this node has none that its driver shows, cgpuctl status says more";
    const std::string found =
        fitting == 0 ? "no GPU can take it" : std::to_string(fitting) + " GPU(s) can take it";
    return model::make_refusal(misfits.empty() ? Reason::no_space : misfits.front().objection.reason,
                               what + " on " + std::to_string(count) + (count == 1 ? " GPU" : " GPUs"),
                               found + (why.empty() ? "" : " (" + why + ")"), remedy_for(misfits));
}

}  // namespace

tl::expected<Plan, Refusal> plan_named(const Node& node, const Request& request, const Defaults& defaults) {
    std::vector<const Gpu*> gpus;
    for (const request::GpuName& name : request.gpus) {
        const auto gpu = find_named(node, name);
        if (!gpu) return tl::unexpected(gpu.error());
        if (std::find(gpus.begin(), gpus.end(), *gpu) != gpus.end())
            return model::refuse(Reason::invalid, describe_name(name), "it is named twice",
                                 "name each GPU once");
        gpus.push_back(*gpu);
    }
    Plan plan;
    plan.mode = mode_asked_for(request, defaults).value_or(mode_of_named(node, gpus));
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const auto seat = find_seat(node, *gpus[i], request, i, plan.mode, defaults);
        if (!seat) return refuse(describe(request, defaults) + " on " + describe(*gpus[i]), seat.error());
        plan.seats.push_back(*seat);
    }
    return plan;
}

tl::expected<Plan, Refusal> plan_placed(const Node& node, const Request& request, const Defaults& defaults) {
    std::optional<Plan> best;
    std::vector<Misfit> misfits;
    std::size_t fitting = 0;
    const auto asked = mode_asked_for(request, defaults);
    for (const Mode mode : {Mode::memory_compute, Mode::memory, Mode::none}) {
        if (asked && *asked != mode) continue;
        std::vector<const Gpu*> gpus;
        for (const Gpu& gpu : node.gpus())
            if (gpu.present && (asked || usual_mode(node, gpu) == mode)) gpus.push_back(&gpu);
        if (gpus.empty()) continue;
        Attempt attempt = place_among(node, gpus, request, mode, defaults);
        fitting = std::max(fitting, attempt.fitting);
        misfits.insert(misfits.end(), attempt.misfits.begin(), attempt.misfits.end());
        if (attempt.seats.empty()) continue;
        Plan plan{mode, std::move(attempt.seats)};
        if (!best || is_better(plan, *best, defaults.placement)) best = std::move(plan);
    }
    if (!best)
        return tl::unexpected(refusal_of(describe(request, defaults), misfits, fitting, request.count));
    return *best;
}

std::string describe(const Request& request, const Defaults& defaults) {
    std::string text;
    for (const request::MemoryAsk& ask : request.memory) {
        if (!text.empty()) text += ",";
        if (const auto* share = std::get_if<request::CardShare>(&ask)) {
            text += std::to_string(share->gib);
            text += share->dev      ? "/" + std::to_string(*share->dev) + " of a card"
                    : share->in_mib ? "MiB"
                                    : "GiB";
        } else {
            text += format_size(std::get<Bytes>(ask));
        }
    }
    if (request.memory.empty()) text = format_size(defaults.default_memory) + " (the default)";
    if (request.percent) text += " and " + std::to_string(*request.percent) + "% of the compute";
    if (request.weight) text += " and weight " + std::to_string(*request.weight);
    if (const auto kept = kept_for_request(request); !kept.empty())
        text += " (for " + model::quote(request.container_name) +
                " --persist has kept: " + model::describe(kept) + ")";
    return text;
}

}  // namespace cgpu::admission
