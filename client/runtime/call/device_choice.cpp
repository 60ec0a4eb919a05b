#include "client/runtime/call/device_choice.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "client/runtime/oci/cdi_annotations.hpp"
#include "client/runtime/oci/gpu_devices.hpp"
#include "client/runtime/oci/nvidia_volumes.hpp"
#include "core/model/gpu_word.hpp"
#include "core/model/quote.hpp"
#include "core/request/cdi.hpp"
#include "core/request/variables.hpp"

namespace cgpu::runtime {
namespace {

using Gpus = std::vector<client::Gpu>;
using Kind = client::ClientError::Kind;
namespace names = request::names;

/// GPUs that one part of the container's configuration names.
struct Choice {
    std::string said;               ///< for messages
    bool names_others = false;      ///< cgpud knows which GPUs, such as those of PCI addresses
    std::vector<std::string> gpus;  ///< UUIDs, in the order in which they are named; empty: any
};

bool names_all(std::string_view name) {
    return name == "all" || name == "none" || name == "void" ||
           name.starts_with("/var/run/nvidia-container-devices");
}

/// The UUID of a present GPU; null if there is no such GPU.
std::optional<std::string> find_gpu(const Gpus& gpus, std::string_view name) {
    const auto word = model::parse_gpu_word(name);
    if (!word) return std::nullopt;
    std::optional<std::string> found;
    for (const client::Gpu& gpu : gpus) {
        if (!gpu.present || !model::is_meant(*word, {gpu.index, gpu.uuid})) continue;
        if (found) return std::nullopt;  // the beginning of several
        found = gpu.uuid;
    }
    return found;
}

tl::unexpected<client::ClientError> no_such_gpu(const std::string& said, std::string_view name) {
    return client::fail(Kind::refused, said + ": " + model::quote(name) +
                                           " is no GPU of this node. Try: name a GPU that cgpuctl status "
                                           "shows, or none to have one chosen.");
}

Result<Choice> read_choice(std::string said, const std::vector<std::string>& named, const Gpus& gpus) {
    Choice choice{std::move(said), false, {}};
    if (std::ranges::any_of(named, names_all)) return choice;
    for (const std::string& name : named) {
        const auto gpu = find_gpu(gpus, name);
        if (!gpu) return no_such_gpu(choice.said, name);
        if (std::find(choice.gpus.begin(), choice.gpus.end(), *gpu) == choice.gpus.end())
            choice.gpus.push_back(*gpu);
    }
    return choice;
}

/// Of the variables, by the rule of request::parse_request(): NVIDIA's counts only without the others. Values
/// that can't be read are the daemon's to refuse.
Choice of_variables(const Variables& variables, const Gpus& gpus) {
    for (const auto name : {names::kGpus, names::kVisibleDevices, names::kNvidiaDevices}) {
        const auto value = request::find_value(variables, name);
        if (!value) continue;
        std::vector<std::string> named;
        for (const std::string_view entry : request::split_names(*value))
            named.emplace_back(request::gpu_of_cdi_name(entry).value_or(entry));
        return read_choice(request::assignment(name, *value), named, gpus)
            .value_or(Choice{.said = {}, .names_others = true, .gpus = {}});
    }
    return {};
}

Result<Choice> of_devices(const OciBundle& bundle, const Gpus& gpus, const GpuMinors& minors) {
    Choice choice;
    for (const std::uint32_t minor : gpu_devices(bundle)) {
        const std::string node = "/dev/nvidia" + std::to_string(minor);
        const auto gpu = minors.find(minor);
        if (gpu == minors.end()) return no_such_gpu("the container's devices", node);
        choice.said += (choice.said.empty() ? "the device " : ", ") + node;
        choice.gpus.push_back(gpu->second);
    }
    const auto present = std::count_if(gpus.begin(), gpus.end(), [](const auto& gpu) { return gpu.present; });
    if (std::cmp_equal(choice.gpus.size(), present)) choice.gpus.clear();
    return choice;
}

/// Adds what another part names; both must name the same if they name any.
Result<void> merge(Choice& into, const Choice& next) {
    if (next.gpus.empty()) return {};
    if (into.gpus.empty()) {
        into = next;
        return {};
    }
    if (std::set(into.gpus.begin(), into.gpus.end()) == std::set(next.gpus.begin(), next.gpus.end()))
        return {};
    return client::fail(Kind::refused, into.said + " and " + next.said +
                                           ": they ask for different GPUs. Try: name the GPUs in one of "
                                           "these ways only.");
}

}  // namespace

Result<void> choose_by_devices(Variables& variables, const OciBundle& bundle, const Gpus& gpus,
                               const GpuMinors& minors) {
    Choice choice = of_variables(variables, gpus);
    const bool by_variables = !choice.gpus.empty() || choice.names_others;
    for (const CdiAnnotation& annotation : cdi_annotations(bundle)) {
        const auto named =
            read_choice(request::assignment(annotation.name, annotation.value), annotation.gpus, gpus);
        if (!named) return tl::unexpected(named.error());
        if (auto merged = merge(choice, *named); !merged) return merged;
    }
    const auto devices = of_devices(bundle, gpus, minors);
    if (!devices) return tl::unexpected(devices.error());
    if (auto merged = merge(choice, *devices); !merged) return merged;
    if (by_variables) return {};
    if (choice.gpus.empty()) {
        auto volumes =
            read_choice("the volumes below /var/run/nvidia-container-devices", gpu_volumes(bundle), gpus);
        if (!volumes) return tl::unexpected(volumes.error());
        choice = std::move(*volumes);
    }
    if (choice.gpus.empty()) return {};
    for (const auto name : {names::kGpus, names::kVisibleDevices}) variables.erase(std::string(name));
    std::string list;
    for (const std::string& gpu : choice.gpus) list += (list.empty() ? "" : ",") + gpu;
    variables[std::string(names::kNvidiaDevices)] = list;
    return {};
}

Result<Gpus> read_gpus_again(client::Node& node, const Gpus& gpus) {
    // The node looks again before it says that there is no GPU of this index.
    const auto missing = std::ranges::find_if(gpus, [](const client::Gpu& gpu) { return !gpu.present; });
    (void)node.find_gpu(std::to_string(missing != gpus.end() ? missing->index : gpus.size()));
    return node.read_gpus();
}

bool knows_all(const Gpus& gpus, const std::vector<client::Quota>& quotas) {
    return std::ranges::all_of(quotas, [&](const client::Quota& quota) {
        return std::ranges::any_of(
            gpus, [&](const client::Gpu& gpu) { return gpu.uuid == quota.gpu && gpu.present; });
    });
}

}  // namespace cgpu::runtime
