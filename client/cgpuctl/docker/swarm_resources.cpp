#include "client/cgpuctl/docker/swarm_resources.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "core/model/bytes.hpp"
#include "core/model/trimmed.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr const char* kKey = "node-generic-resources";
constexpr std::string_view kMemory = "cgpu_memory_mib";
constexpr std::string_view kInstances = "cgpu_instances";

/// The entries are strings, `NAME=VALUE`; dockerd ignores blanks around both.
struct Entry {
    std::string_view name;
    std::string_view value;
};

/// The name is empty if it is no such string.
Entry read_entry(const OrderedJson& entry) {
    if (!entry.is_string()) return {};
    const std::string_view text = entry.get_ref<const std::string&>();
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return {};
    return {model::trimmed(text.substr(0, equals)), model::trimmed(text.substr(equals + 1))};
}

bool is_ours(const Entry& entry) { return entry.name == kMemory || entry.name == kInstances; }

OrderedJson without_ours(const OrderedJson& list) {
    OrderedJson others = OrderedJson::array();
    for (const OrderedJson& entry : list)
        if (!is_ours(read_entry(entry))) others.push_back(entry);
    return others;
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : 0;
}

std::string text_of(std::string_view name, std::uint64_t value) {
    return std::string(name) + "=" + std::to_string(value);
}

}  // namespace

SwarmResources swarm_resources(const client::Snapshot& snapshot) {
    SwarmResources sum;
    for (const client::Gpu& gpu : snapshot.gpus) {
        if (!gpu.present || !gpu.obstacle.empty()) continue;
        sum.memory_mib += gpu.memory_total / model::Bytes::kPerMib;
        sum.instances += gpu.max_inst;
    }
    return sum;
}

std::optional<SwarmResources> announced_resources(const DockerConfig& config) {
    const auto found = config.values.find(kKey);
    if (found == config.values.end() || !found->is_array()) return std::nullopt;
    std::optional<SwarmResources> announced;
    for (const OrderedJson& each : *found) {
        const Entry entry = read_entry(each);
        if (!is_ours(entry)) continue;
        if (!announced) announced.emplace();
        (entry.name == kMemory ? announced->memory_mib : announced->instances) = number(entry.value);
    }
    return announced;
}

client::Result<DockerConfig> with_swarm_resources(DockerConfig config, const SwarmResources& resources) {
    OrderedJson list = OrderedJson::array();
    const auto found = config.values.find(kKey);
    if (found != config.values.end()) {
        if (!found->is_array())
            return client::fail(client::ClientError::Kind::refused,
                                "daemon.json: its \"node-generic-resources\" is no list. Try: mend it by "
                                "hand; dockerd could not read it either.");
        list = without_ours(*found);
        // Two entries of ours and no third: with a resource twice, dockerd doesn't start.
        if (announced_resources(config) == resources && found->size() == list.size() + 2) return config;
    }
    list.push_back(text_of(kMemory, resources.memory_mib));
    list.push_back(text_of(kInstances, resources.instances));
    config.values[kKey] = std::move(list);
    return config;
}

DockerConfig without_swarm_resources(DockerConfig config) {
    const auto found = config.values.find(kKey);
    if (found == config.values.end() || !found->is_array()) return config;
    OrderedJson others = without_ours(*found);
    if (others.size() == found->size()) return config;
    if (others.empty())
        config.values.erase(kKey);
    else
        *found = std::move(others);
    return config;
}

std::string to_text(const SwarmResources& resources) {
    return text_of(kMemory, resources.memory_mib) + " and " + text_of(kInstances, resources.instances);
}

}  // namespace cgpu::cgpuctl
