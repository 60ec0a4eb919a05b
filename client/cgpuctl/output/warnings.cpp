#include "client/cgpuctl/output/warnings.hpp"

#include <algorithm>
#include <iterator>

#include "client/cgpuctl/output/format.hpp"
#include "core/model/policy.hpp"

namespace cgpu::cgpuctl {
namespace {

/// The defaults, which no administrator has written.
constexpr const char* kShipped = "/usr/lib/cgpu/cgpud.yaml:";
constexpr auto kNative = static_cast<std::uint32_t>(model::Policy::native);

/// Whether the GPU's compute is divided by cgpu at all.
bool divides(const client::Gpu& gpu) { return gpu.mode == "memory+compute" && gpu.policy != kNative; }

/// The messages have their remedies already, which are followed by the reload.
std::vector<std::string> configuration_warnings(const client::Snapshot& snapshot) {
    std::vector<std::string> out;
    for (const client::ConfigurationProblem& problem : snapshot.configuration_problems) {
        std::string message = problem.message;
        if (message.ends_with('.')) message.pop_back();
        out.push_back(
            "configuration: the files were refused, and the former configuration is in force since " +
            time_text(problem.since) + ": " + message + ", and then systemctl reload cgpud.");
    }
    return out;
}

void add_driver_warning(const client::Snapshot& snapshot, std::vector<std::string>& out) {
    constexpr std::size_t kNamed = 5;
    const auto& names = snapshot.newer_driver_functions;
    if (names.empty()) return;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamed) text += ", ...";
    out.push_back("driver: " + std::to_string(names.size()) +
                  (names.size() == 1 ? " function is" : " functions are") +
                  " newer than this release, and no limit holds for what programs do by them: " + text +
                  ". Try: install the newest release of cgpu.");
}

}  // namespace

std::vector<std::string> mode_warnings(const client::Snapshot& snapshot) {
    std::vector<std::string> out;
    if (!snapshot.mode_is_switched()) return out;
    for (const client::Gpu& gpu : snapshot.gpus)
        if (gpu.present && gpu.mode != snapshot.mode)
            out.push_back("GPU " + std::to_string(gpu.index) + ": it serves mode " + gpu.mode +
                          " until its instances end, and refuses instances of the node's mode, " +
                          snapshot.mode + ". Try: cgpuctl show " + std::to_string(gpu.index) + ".");
    return out;
}

std::vector<std::string> module_warnings(const client::Snapshot& snapshot) {
    std::vector<std::string> out;
    if (snapshot.job && !snapshot.job->ended()) return out;
    for (const client::Instance& instance : snapshot.instances)
        if (!instance.module_version.empty() && !snapshot.module_version.empty() &&
            instance.module_version != snapshot.module_version)
            out.push_back("instance " + short_id(instance.id) + ": its processes run module " +
                          instance.module_version + ", and " + snapshot.module_version +
                          " is in force. Try: journalctl -u cgpud.");
    return out;
}

std::vector<std::string> warnings_of_weight(const client::Snapshot& snapshot, const client::Gpu& gpu) {
    std::vector<std::string> out;
    const bool held = divides(gpu);
    for (const client::Instance& instance : snapshot.instances) {
        const client::OnGpu* place = instance.on(gpu.uuid);
        if (!held && gpu.present && place != nullptr && place->quota.paused)
            out.push_back("instance " + short_id(instance.id) + ": it is paused on GPU " +
                          std::to_string(gpu.index) +
                          ", and computes there all the same, because the driver divides the GPU. Try: "
                          "cgpuctl set-policy " +
                          std::to_string(gpu.index) + " proportional.");
        if (!held) continue;
        if (place == nullptr || place->quota.weight > 0) continue;
        out.push_back("instance " + short_id(instance.id) + ": its weight on GPU " +
                      std::to_string(gpu.index) + " is 0, so it cannot compute. Try: cgpuctl set-weight " +
                      short_id(instance.id) + " 1, after freeing a weight if none is left.");
    }
    return out;
}

std::vector<client::ConfigurationValue> differing_values(
    const std::vector<client::ConfigurationValue>& values) {
    std::vector<client::ConfigurationValue> differing;
    std::ranges::copy_if(values, std::back_inserter(differing),
                         [](const auto& value) { return !value.configured.empty(); });
    return differing;
}

std::string text_of_difference(const client::ConfigurationValue& value) {
    return value.key + ": " + value.configured_source + " says " + value.configured +
           (value.value.empty() ? ", and this node has no such GPU. Try: "
                                : ", which is not in force. Try: ") +
           value.remedy + ".";
}

std::vector<std::string> difference_warnings(const std::vector<client::ConfigurationValue>& values) {
    std::vector<std::string> out;
    for (const auto& value : differing_values(values))
        if (value.configured_source != "built in" && !value.configured_source.starts_with(kShipped))
            out.push_back(text_of_difference(value));
    return out;
}

std::vector<std::string> warnings_about(const client::Snapshot& snapshot) {
    std::vector<std::string> out = configuration_warnings(snapshot);
    if (snapshot.module_version.empty())
        out.emplace_back(
            "module: none is installed, so nothing can be limited. Try: install it, then restart cgpud.");
    add_driver_warning(snapshot, out);
    for (std::string& warning : module_warnings(snapshot)) out.push_back(std::move(warning));
    if (snapshot.gpus.empty())
        out.emplace_back("GPUs: the driver shows none. Try: nvidia-smi, then journalctl -u cgpud.");
    for (std::string& warning : mode_warnings(snapshot)) out.push_back(std::move(warning));
    for (const client::Gpu& gpu : snapshot.gpus) {
        if (!gpu.present)
            out.push_back("GPU " + std::to_string(gpu.index) + " is lost: the driver no longer sees it (" +
                          gpu.uuid + (gpu.obstacle.empty() ? "" : "; " + gpu.obstacle) +
                          "). Try: nvidia-smi, and read the kernel's log (journalctl -k).");
        else if (!gpu.obstacle.empty())
            out.push_back("GPU " + std::to_string(gpu.index) + ": nothing is put on it: " + gpu.obstacle +
                          ". Try: nvidia-smi -q.");
        for (std::string& warning : warnings_of_weight(snapshot, gpu)) out.push_back(std::move(warning));
    }
    return out;
}

}  // namespace cgpu::cgpuctl
