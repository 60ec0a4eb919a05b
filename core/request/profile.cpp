#include "core/request/profile.hpp"

#include <algorithm>

#include "core/model/duration.hpp"
#include "core/model/quote.hpp"
#include "core/model/size.hpp"

namespace cgpu::request {
namespace {

using model::Bytes;
using model::Refusal;
using Reason = Refusal::Reason;

std::string what_of(const Request& request) { return "CGPU_PROFILE=" + model::quote(request.profile); }

tl::unexpected<Refusal> unknown(const Request& request, const Profiles& profiles) {
    std::string known;
    for (const auto& [name, profile] : profiles) known += (known.empty() ? "" : ", ") + name;
    return model::refuse(Reason::not_found, what_of(request), "this node has no such profile",
                         known.empty()
                             ? "ask for memory instead (CGPU_MEM): the configuration has no profiles"
                             : "use one of " + known);
}

tl::unexpected<Refusal> too_much(const Request& request, const std::string& asked, const std::string& most) {
    return model::refuse(Reason::invalid, asked + " with " + what_of(request),
                         "the profile allows " + most + " at most", "ask for " + most + " or less");
}

tl::unexpected<Refusal> too_high(const Request& request) {
    return model::refuse(Reason::invalid, "high priority with " + what_of(request),
                         "the profile allows normal priority only",
                         "ask for normal priority (CGPU_PRIO=normal)");
}

tl::expected<void, Refusal> check_max(const Request& request, const ProfileValues& max) {
    if (max.memory)
        for (const MemoryAsk& ask : request.memory)
            // What a share of a card is depends on the card: check_granted().
            if (const auto* exact = std::get_if<Bytes>(&ask); exact != nullptr && *exact > *max.memory)
                return too_much(request, model::format_size(*exact), model::format_size(*max.memory));
    if (max.gpus && (request.every_gpu || request.count > *max.gpus))
        return too_much(request, request.every_gpu ? "every GPU" : std::to_string(request.count) + " GPUs",
                        std::to_string(*max.gpus) + (*max.gpus == 1 ? " GPU" : " GPUs"));
    if (request.percent && max.percent && *request.percent > *max.percent)
        return too_much(request, std::to_string(*request.percent) + "% of the compute",
                        std::to_string(*max.percent) + "%");
    if (request.weight && max.weight && *request.weight > *max.weight)
        return too_much(request, "weight " + std::to_string(*request.weight),
                        "weight " + std::to_string(*max.weight));
    if (request.time && max.time && *request.time > *max.time)
        return too_much(request, model::format_duration(*request.time), model::format_duration(*max.time));
    if (request.idle && max.idle && *request.idle > *max.idle)
        return too_much(request, model::format_duration(*request.idle) + " without work",
                        model::format_duration(*max.idle));
    if (request.high_priority.value_or(false) && !max.high_priority.value_or(true)) return too_high(request);
    // How many per cent a slice is depends on the GPU.
    if (request.weight && !max.weight && max.percent)
        return model::refuse(
            Reason::invalid, "weight " + std::to_string(*request.weight) + " with " + what_of(request),
            "the profile limits the compute by a percentage", "ask for a percentage (CGPU_COMPUTE)");
    if (request.percent && !max.percent && max.weight)
        return model::refuse(Reason::invalid,
                             std::to_string(*request.percent) + "% of the compute with " + what_of(request),
                             "the profile limits the compute by a weight", "ask for a weight (CGPU_WEIGHT)");
    return {};
}

}  // namespace

bool is_profile_name(std::string_view name) {
    // It is the name of a device of CDI, too.
    return !name.empty() && name.size() <= 64 && name.front() != '-' && name.front() != '_' &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_';
           });
}

bool exceeds_its_max(const Profile& profile) {
    const auto more = [](const auto& value, const auto& most) { return value && most && *value > *most; };
    const ProfileValues& values = profile.values;
    const ProfileValues& max = profile.max;
    const bool other_measure =
        (values.weight && max.percent && !max.weight) || (values.percent && max.weight && !max.percent);
    return more(values.memory, max.memory) || more(values.percent, max.percent) ||
           more(values.weight, max.weight) || more(values.gpus, max.gpus) || more(values.time, max.time) ||
           more(values.idle, max.idle) || more(values.high_priority, max.high_priority) || other_measure;
}

tl::expected<void, Refusal> apply_profile(Request& request, const Profiles& profiles) {
    if (request.profile.empty()) return {};
    const auto found = profiles.find(request.profile);
    if (found == profiles.end()) return unknown(request, profiles);
    if (auto allowed = check_max(request, found->second.max); !allowed) return allowed;
    const ProfileValues& values = found->second.values;
    if (request.memory.empty() && values.memory) request.memory.emplace_back(*values.memory);
    if (!request.weight && !request.percent) {
        request.weight = values.weight;
        request.percent = values.percent;
    }
    if (!request.high_priority) request.high_priority = values.high_priority;
    // What may be asked for at most is the time of who asks for none.
    if (!request.time) request.time = values.time ? values.time : found->second.max.time;
    if (!request.idle) request.idle = values.idle ? values.idle : found->second.max.idle;
    const bool asks_for_gpus = !request.gpus.empty() || request.every_gpu || request.count > 1;
    if (values.gpus && !asks_for_gpus) request.count = *values.gpus;
    return {};
}

tl::expected<void, Refusal> check_granted(const Request& request, const Profiles& profiles,
                                          const std::vector<model::Quota>& quotas) {
    const auto found = profiles.find(request.profile);
    if (found == profiles.end()) return {};
    const ProfileValues& max = found->second.max;
    for (const model::Quota& quota : quotas) {
        if (max.memory && quota.memory_limit > *max.memory)
            return too_much(request, model::format_size(quota.memory_limit), model::format_size(*max.memory));
        if (quota.high_priority && !max.high_priority.value_or(true)) return too_high(request);
    }
    return {};
}

}  // namespace cgpu::request
