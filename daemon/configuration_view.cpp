#include "daemon/configuration_view.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "daemon/config/key_table.hpp"
#include "daemon/config/limits/limit_keys.hpp"
#include "daemon/config/limits/profile_keys.hpp"
#include "daemon/config/origins.hpp"

namespace cgpu {
namespace {

using app::ConfigurationValue;
using app::ConfigurationValues;

constexpr const char* kState = "state";
constexpr const char* kRuntime = "runtime";
constexpr const char* kNoSuchGpu = "no such GPU";
constexpr const char* kSetModeConfigured = "cgpuctl set-mode configured";

/// The configured value is in force.
ConfigurationValue configured(std::string key, std::string value, std::string origin) {
    return {std::move(key), std::move(value), std::move(origin), {}, {}, {}};
}

/// `kept` is in force, and was set. If it is what the files say, they are named as its source, unless
/// something else holds after the reboot.
ConfigurationValue kept(ConfigurationValue wanted, std::string kept, bool until_reboot, std::string remedy) {
    const bool same = wanted.value == kept;
    if (same && until_reboot) return configured(std::move(wanted.key), std::move(kept), kRuntime);
    if (same) return wanted;
    return {std::move(wanted.key),   std::move(kept),          until_reboot ? kRuntime : kState,
            std::move(wanted.value), std::move(wanted.source), std::move(remedy)};
}

ConfigurationValue value_of_new_gpus(const InForce& in_force, const config::Origins& origins,
                                     const config::GpuKey& key) {
    const std::string name(key.name);
    auto wanted = configured(name, key.show(in_force.last_read.config.gpu_defaults), origins.of({name}));
    if (key.name != "mode" || !in_force.switched_mode) return wanted;
    return kept(std::move(wanted), std::string(to_string(*in_force.switched_mode)),
                in_force.mode_until_reboot, kSetModeConfigured);
}

ConfigurationValue value_of_key(const InForce& in_force, const config::Origins& origins,
                                const config::Key& key) {
    const auto& config = in_force.last_read.config;
    const std::string name(key.name);
    auto wanted = configured(name, key.show(config), origins.of({name}));
    if (key.name == "default_memory" && in_force.node.default_memory()) {
        config::Config set = config;
        set.admission.default_memory = *in_force.node.default_memory();
        return kept(std::move(wanted), key.show(set), in_force.node.until_reboot().default_memory.has_value(),
                    "cgpuctl revert default-memory");
    }
    if (key.applies == config::Applies::on_reload) return wanted;
    auto value = key.show(in_force.at_start.config);
    if (value == wanted.value) return wanted;
    auto started = configured(name, std::move(value), config::Origins(in_force.at_start.entries).of({name}));
    started.configured = std::move(wanted.value);
    started.configured_source = std::move(wanted.source);
    started.remedy = "systemctl restart cgpud";
    return started;
}

ConfigurationValue value_of_gpu(const InForce& in_force, const config::Origins& origins,
                                const model::Gpu& gpu, const config::GpuKey& key) {
    const std::string name(key.name);
    const std::string index = std::to_string(gpu.index);
    auto wanted = configured("gpus." + index + "." + name,
                             key.show(in_force.last_read.config.settings_for(gpu)), origins.of(gpu, name));
    auto settings = gpu.settings;
    if (key.name == "mode") {
        settings.mode = in_force.switched_mode.value_or(settings.mode);
        return kept(std::move(wanted), key.show(settings),
                    in_force.switched_mode && in_force.mode_until_reboot, kSetModeConfigured);
    }
    const auto& until = in_force.node.until_reboot().gpus;
    const auto then = until.find(gpu.uuid);
    const bool until_reboot = then != until.end() && key.show(then->second) != key.show(settings);
    return kept(std::move(wanted), key.show(settings), until_reboot,
                key.name == "max_inst" && !settings.by_hand.max_inst
                    ? "end instances on GPU " + index + " or lower their weights; cgpud takes the value then"
                    : "cgpuctl revert " + index);
}

/// Of the GPUs that the files name by an index or a UUID and the node doesn't know. A node whose driver
/// hasn't been there yet knows none.
ConfigurationValues values_of_unknown_gpus(const InForce& in_force) {
    ConfigurationValues unknown;
    if (in_force.node.gpus().empty()) return unknown;
    for (const auto& entry : in_force.last_read.entries) {
        if (entry.path.size() != 3 || entry.path[0] != "gpus" ||
            config::names_one_of(entry.path[1], in_force.node.gpus()))
            continue;
        unknown.push_back({"gpus." + entry.path[1] + "." + entry.path[2], "", kNoSuchGpu, entry.value,
                           entry.origin.text(), "name a GPU that cgpuctl status shows"});
    }
    return unknown;
}

}  // namespace

ConfigurationValues configuration_values(const InForce& in_force) {
    ConfigurationValues all;
    const config::Origins origins(in_force.last_read.entries);
    for (const auto& key : config::gpu_keys()) all.push_back(value_of_new_gpus(in_force, origins, key));
    for (const auto& key : config::keys()) all.push_back(value_of_key(in_force, origins, key));
    for (const auto& [name, weight] : in_force.last_read.config.admission.weights)
        all.push_back(configured("weights." + name, std::to_string(weight), origins.of({"weights", name})));
    for (const auto& shown : {config::show_profiles(in_force.last_read.config.profiles),
                              config::show_limits(in_force.last_read.config.limits)})
        for (const auto& [path, value] : shown) {
            std::string key;
            for (const auto& part : path) key += (key.empty() ? "" : ".") + part;
            all.push_back(configured(std::move(key), value, origins.of(path)));
        }
    for (const auto& gpu : in_force.node.gpus()) {
        if (!gpu.present) continue;
        for (const auto& key : config::gpu_keys()) all.push_back(value_of_gpu(in_force, origins, gpu, key));
    }
    for (auto& value : values_of_unknown_gpus(in_force)) all.push_back(std::move(value));
    return all;
}

std::vector<std::string> not_put_in_force(const ConfigurationValues& before, const ConfigurationValues& now) {
    std::unordered_map<std::string_view, const ConfigurationValue*> former;
    for (const auto& value : before) former.emplace(value.key, &value);
    std::vector<std::string> lines;
    for (const auto& value : now) {
        const std::string_view key = value.key;
        if (value.configured.empty() || key == "mode" || key.ends_with(".mode")) continue;
        const auto then = former.find(key);
        // What the files said before: the value itself, if it was in force.
        const bool same = then != former.end() &&
                          (then->second->configured.empty() ? then->second->value
                                                            : then->second->configured) == value.configured;
        if (same) continue;
        lines.push_back(
            value.key + ": " + value.configured_source + " says " + value.configured + ", and " +
            (value.source == kNoSuchGpu ? "this node has no such GPU" : value.value + " stays in force") +
            ". Try: " + value.remedy + ".");
    }
    return lines;
}

}  // namespace cgpu
