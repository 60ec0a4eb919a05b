#include "daemon/app/upgrade/mode_differences.hpp"

namespace cgpu::app {
namespace {

using model::Mode;

std::string name(Mode mode) { return std::string(to_string(mode)); }

}  // namespace

std::vector<ModeDifference> mode_differences(
    const model::Node& node, Mode configured, std::optional<Mode> switched,
    const std::function<Mode(const model::SeenGpu&)>& configured_for) {
    if (switched && *switched != configured)
        return {{"mode: the configuration says " + name(configured) + ", and the node was switched to " +
                 name(*switched) + ", which wins. Try: cgpuctl set-mode configured, or mode: " +
                 name(*switched) + " in /etc/cgpu/cgpud.yaml."}};
    std::vector<ModeDifference> found;
    for (const auto& gpu : node.gpus()) {
        const Mode wanted = configured_for(gpu);
        const Mode kept = switched.value_or(gpu.settings.mode);
        if (wanted == kept) continue;
        found.push_back(
            {describe(gpu) + ": the configuration says mode " + name(wanted) + ", and it keeps " +
                 name(kept) +
                 (switched ? ", which the node was switched to" : " from when it was first seen") +
                 ". Try: cgpuctl set-mode configured, for all GPUs of the node.",
             log::about(gpu)});
    }
    return found;
}

}  // namespace cgpu::app
