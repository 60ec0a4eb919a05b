#include "client/cgpuctl/why/account.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::why {
namespace {

constexpr std::size_t kMostNamed = 5;
/// What is shown in tenths of a per cent.
constexpr double kShown = 1000;

double strangers_in(const Observed& seen) { return std::clamp(seen.strangers.value_or(0), 0.0, 1.0); }

double own_of(const Observed& seen) { return seen.got + seen.unreported_of_own; }

double used_by(const Rival& rival) { return rival.used + rival.unreported; }

double instances_in(const Observed& seen) {
    double sum = own_of(seen);
    for (const Rival& rival : seen.rivals) sum += used_by(rival);
    return sum;
}

/// By how much the instances' own figures are reduced.
double scale_of(const Observed& seen) {
    const double sum = instances_in(seen);
    const double room = 1 - strangers_in(seen);
    return sum > room ? room / sum : 1;
}

/// Each instance has work while it computes or waits, so at least for so long the GPU could have computed.
double time_with_work(const Observed& seen) {
    double most = own_of(seen) + seen.waited;
    for (const Rival& rival : seen.rivals) most = std::max(most, used_by(rival) + rival.waited);
    return std::min(most, 1.0);
}

std::string label_of(const Part& part) {
    switch (part.kind) {
        case Part::Kind::own:
            return "it";
        case Part::Kind::other:
            return part.name;
        case Part::Kind::strangers:
            return "processes of no instance";
        case Part::Kind::switching:
            return "switching";
        case Part::Kind::idle:
            return "idle";
    }
    return {};
}

}  // namespace

std::vector<Part> account_of(const Observed& seen) {
    const double scale = scale_of(seen);
    std::vector<Part> parts = {{Part::Kind::own, own_of(seen) * scale}};
    for (const Rival& rival : seen.rivals)
        parts.push_back({Part::Kind::other, used_by(rival) * scale, rival.name, rival.id});
    const double strangers = strangers_in(seen);
    parts.push_back({Part::Kind::strangers, strangers});
    const double used = instances_in(seen) * scale + strangers;
    const double rest = std::max(0.0, 1 - used);
    // Under policy fixed nobody may compute in the time of others.
    const bool fixed = seen.gpu.policy_name == "fixed";
    const double switching = fixed ? 0 : std::clamp(time_with_work(seen) - used, 0.0, rest);
    parts.push_back({Part::Kind::switching, switching});
    parts.push_back({Part::Kind::idle, rest - switching});
    return parts;
}

double without_any_work(const Observed& seen) {
    const double used = instances_in(seen) * scale_of(seen) + strangers_in(seen);
    return std::max(0.0, 1 - std::max(used, time_with_work(seen)));
}

double own_part(const Observed& seen) { return own_of(seen) * scale_of(seen); }

std::string account_text(const std::vector<Part>& parts) {
    std::vector<Part> shown;
    Part unnamed{Part::Kind::other, 0};
    std::size_t named = 0;
    for (const Part& part : parts) {
        const bool too_many = part.kind == Part::Kind::other && (named == kMostNamed || part.ratio == 0);
        if (too_many)
            unnamed.ratio += part.ratio;
        else
            shown.push_back(part);
        if (part.kind == Part::Kind::other && !too_many && ++named == kMostNamed) unnamed.name = "others";
    }
    if (unnamed.ratio > 0) shown.insert(shown.begin() + 1 + static_cast<std::ptrdiff_t>(named), unnamed);
    std::string text;
    double sum = 0;
    for (const Part& part : shown) {
        // What is rounded in one of them isn't missing in the next one.
        const double before = std::round(sum * kShown);
        sum += part.ratio;
        const double ratio = (std::round(sum * kShown) - before) / kShown;
        text += (text.empty() ? "" : ", ") + share_text(ratio) + " " + label_of(part);
    }
    return text;
}

}  // namespace cgpu::cgpuctl::why
