#include "client/runtime/oci/own_hook.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "client/run/mounts/container_hooks.hpp"
#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

constexpr std::string_view kGpus = "gpus=";
constexpr std::string_view kWhole = "whole=";
constexpr std::string_view kAll = "all";
constexpr std::string_view kNone = "none";
constexpr const char* kStage = "createRuntime";
/// It brings no device in, and almost every container of older Dockers has it.
constexpr const char* kDockersNetwork = "libnetwork-setkey";
/// After `cgpu-runtime hook check ID`, and `… attach ID`.
constexpr std::size_t kPlaceOfGpus = 4;

std::optional<KnownGpus> said_by(const OciBundle& bundle, const std::vector<std::string>& arguments) {
    for (const Json& hook : list_at(bundle.config(), Json::json_pointer("/hooks/" + std::string(kStage)))) {
        if (!begins_with(hook, arguments)) continue;
        const Json& all = hook["args"];
        return all.size() > kPlaceOfGpus && all[kPlaceOfGpus].is_string()
                   ? KnownGpus::read(all[kPlaceOfGpus].get<std::string>())
                   : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

Json OwnHooks::hook(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"cgpu-runtime", "hook"});
    if (!log_argument.empty()) arguments.push_back(log_argument);
    return {{"path", program},
            {"args", arguments},
            {"timeout", client::kHookTimeout},
            {"env", client::hook_environment(bus_address)}};
}

bool has_hooks_of_others(const OciBundle& bundle) {
    for (const char* stage : {"prestart", "createRuntime"})
        for (const Json& hook : list_at(bundle.config(), Json::json_pointer("/hooks/" + std::string(stage))))
            if (!begins_with(hook, {"cgpu-runtime"}) && !begins_with(hook, {kDockersNetwork})) return true;
    return false;
}

bool KnownGpus::covers(const GpuAccess& access) const {
    if (all) return true;
    if (minors.empty()) return !access.any();
    const auto gpus = access.gpus();
    return !access.all_by_rule && std::includes(minors.begin(), minors.end(), gpus.begin(), gpus.end());
}

std::string KnownGpus::argument() const {
    std::string text(booked ? kWhole : kGpus);
    if (all) return text + std::string(kAll);
    if (minors.empty()) return text + std::string(kNone);
    for (const std::uint32_t minor : minors) text += (text.back() == '=' ? "" : ",") + std::to_string(minor);
    return text;
}

std::optional<KnownGpus> KnownGpus::read(const std::string& argument) {
    KnownGpus known;
    known.booked = argument.starts_with(kWhole);
    if (!known.booked && !argument.starts_with(kGpus)) return std::nullopt;
    const auto list = std::string_view(argument).substr(known.booked ? kWhole.size() : kGpus.size());
    known.all = list == kAll;
    if (known.all || list == kNone) return known;
    for (const std::string_view entry : request::split_list(list)) {
        const auto minor = request::to_number(entry);
        if (!minor || *minor > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
        known.minors.insert(static_cast<std::uint32_t>(*minor));
    }
    return known;
}

void add_check_hook(OciBundle& bundle, const OwnHooks& own, const std::string& id, const KnownGpus& known) {
    bundle.add_hook(kStage, own.hook({kCheckHook[2], id, known.argument()}));
}

std::optional<KnownGpus> granted_gpus(const OciBundle& bundle) { return said_by(bundle, kAttachHook); }

std::optional<KnownGpus> checked_gpus(const OciBundle& bundle) { return said_by(bundle, kCheckHook); }

}  // namespace cgpu::runtime
