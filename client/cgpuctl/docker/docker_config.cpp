#include "client/cgpuctl/docker/docker_config.hpp"

#include <filesystem>

#include "client/cgpuctl/docker/engine/docker_info.hpp"
#include "client/cgpuctl/docker/engine/engine_file.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;
using client::Result;
using Kind = client::ClientError::Kind;

constexpr const char* kName = "cgpu";
constexpr const char* kNvidia = "nvidia";
constexpr const char* kDefault = "default-runtime";
constexpr const char* kRuntimes = "runtimes";
// In the file of what was before.
constexpr const char* kFound = "file";
constexpr const char* kConfigured = "configured";
constexpr const char* kAsNvidia = "as-nvidia";
constexpr const char* kAsDefault = "default";

std::string indent_of(const std::string& text) {
    const auto line = text.find('\n');
    if (line == std::string::npos) return "    ";
    const auto end = text.find_first_not_of(" \t", line + 1);
    return end == std::string::npos || end == line + 1 ? "    " : text.substr(line + 1, end - line - 1);
}

/// Whether an entry is ours, whatever the path to the wrapper is.
bool is_ours(const OrderedJson& entry) {
    const auto path = entry.is_object() ? entry.find("path") : entry.end();
    return entry.is_object() && path != entry.end() && path->is_string() &&
           is_cgpu_runtime(path->get<std::string>());
}

/// The value of a key, or null.
OrderedJson value_at(const OrderedJson& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? OrderedJson() : *found;
}

Result<OrderedJson> read_object(const std::string& file, std::string& text) {
    auto read = read_engine_file(file);
    if (!read) return tl::unexpected(read.error());
    text = std::move(*read);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return OrderedJson::object();
    try {
        OrderedJson values = OrderedJson::parse(text);
        if (values.is_object()) return values;
        return client::fail(Kind::failed, file +
                                              ": it is JSON, but no object. Try: mend it by hand; dockerd "
                                              "could not read it either.");
    } catch (const nlohmann::json::parse_error& error) {
        std::string why = error.what();
        why.erase(0, why.find("] ") + 2);  // the library's own number
        return client::fail(Kind::failed,
                            file + ": " + why + ". Try: mend it by hand; dockerd could not read it either.");
    }
}

/// Whether it was asked for when the runtime was registered.
bool was_configured(const DockerConfig& config, const char* what) {
    const OrderedJson configured = value_at(config.before, kConfigured);
    return configured.is_object() && value_at(configured, what) == true;
}

void put_back(OrderedJson& object, const char* key, const OrderedJson& before) {
    if (const OrderedJson old = value_at(before, key); old.is_null())
        object.erase(key);
    else
        object[key] = old;
}

/// Whether a runtime or the default is ours.
bool has_ours(const OrderedJson& values) {
    const OrderedJson runtimes = value_at(values, kRuntimes);
    return value_at(values, kDefault) == kName ||
           (runtimes.is_object() &&
            (is_ours(value_at(runtimes, kName)) || is_ours(value_at(runtimes, kNvidia))));
}

/// What an empty list of runtimes says, its absence says, too.
OrderedJson without_empty_runtimes(OrderedJson values) {
    if (value_at(values, kRuntimes) == OrderedJson::object()) values.erase(kRuntimes);
    return values;
}

/// Takes the text that was found, if it says what the values say now.
void restore(DockerConfig& config, const OrderedJson& found) {
    if (found.is_null()) {
        config.is_restored = config.values.empty();
        if (config.is_restored) config.text.reset();
        return;
    }
    if (!found.is_string()) return;
    const auto text = found.get<std::string>();
    const bool is_blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
    const OrderedJson values = is_blank ? OrderedJson::object() : OrderedJson::parse(text, nullptr, false);
    if (values.is_discarded() || without_empty_runtimes(values) != config.values) return;
    config.values = values;
    config.text = text;
    config.is_restored = true;
}

}  // namespace

Result<DockerConfig> read_docker_config(const std::string& file) {
    std::string text;
    std::string unused;
    auto values = read_object(file, text);
    if (!values) return tl::unexpected(values.error());
    auto before = read_object(before_file(file), unused);
    if (!before) return tl::unexpected(before.error());
    std::error_code none;
    DockerConfig config{std::move(*values), std::move(*before), indent_of(text), std::nullopt};
    if (!text.empty() || fs::exists(file, none)) config.text = std::move(text);
    return config;
}

Result<void> write_docker_config(const std::string& file, const DockerConfig& config) {
    // The former values are saved before they are removed.
    if (!config.before.empty())
        if (auto kept = write_engine_file(before_file(file), config.before.dump(4) + "\n"); !kept)
            return kept;
    const bool tabs = config.indent.starts_with('\t');
    const std::string text =
        config.is_restored && config.text
            ? *config.text
            : config.values.dump(static_cast<int>(config.indent.size()), tabs ? '\t' : ' ') + "\n";
    const bool goes = config.is_restored && !config.text;
    if (auto written = goes ? remove_engine_file(file) : write_engine_file(file, text); !written)
        return written;
    if (config.before.empty()) return remove_engine_file(before_file(file));
    return {};
}

std::vector<std::string> docker_sockets(const RunningDocker& docker, const DockerConfig& config) {
    std::vector<std::string> hosts = docker.flags.hosts;
    if (const OrderedJson listed = value_at(config.values, "hosts"); listed.is_array())
        for (const auto& host : listed)
            if (host.is_string()) hosts.push_back(host.get<std::string>());
    return docker_sockets(hosts);
}

Result<DockerConfig> with_runtime(DockerConfig config, const DockerWish& wish) {
    OrderedJson& values = config.values;
    if (!values.contains(kRuntimes)) values[kRuntimes] = OrderedJson::object();
    OrderedJson& runtimes = values[kRuntimes];
    if (!runtimes.is_object())
        return client::fail(
            Kind::refused,
            "daemon.json: its \"runtimes\" is no object. Try: mend it by hand; dockerd could not "
            "read it either.");
    const OrderedJson entry = {{"path", wish.program}, {"args", OrderedJson::array()}};
    // A file without anything of ours is as somebody else wrote it, also if it was ours once.
    if (!has_ours(values)) {
        config.before.erase(kNvidia);
        config.before.erase(kDefault);
        config.before[kFound] = config.text ? OrderedJson(*config.text) : OrderedJson();
    }
    config.before[kConfigured] = {{kAsNvidia, wish.as_nvidia || was_configured(config, kAsNvidia)},
                                  {kAsDefault, wish.as_default || was_configured(config, kAsDefault)}};
    if (wish.as_nvidia) {
        if (const OrderedJson old = value_at(runtimes, kNvidia); !is_ours(old)) config.before[kNvidia] = old;
        runtimes[kNvidia] = entry;
    }
    runtimes[kName] = entry;
    if (wish.as_default) {
        if (const OrderedJson old = value_at(values, kDefault); old != kName) config.before[kDefault] = old;
        values[kDefault] = kName;
    }
    return config;
}

bool is_cgpu_runtime(const std::string& path) { return fs::path(path).filename() == "cgpu-runtime"; }

bool is_default_runtime(const OrderedJson& values) {
    const OrderedJson chosen = value_at(values, kDefault);
    const OrderedJson runtimes = value_at(values, kRuntimes);
    return chosen.is_string() && runtimes.is_object() &&
           is_ours(value_at(runtimes, chosen.get_ref<const std::string&>().c_str()));
}

DockerConfig without_runtime(DockerConfig config) {
    OrderedJson& values = config.values;
    if (values.contains(kRuntimes) && values[kRuntimes].is_object()) {
        OrderedJson& runtimes = values[kRuntimes];
        runtimes.erase(kName);
        if (is_ours(value_at(runtimes, kNvidia))) put_back(runtimes, kNvidia, config.before);
        if (runtimes.empty()) values.erase(kRuntimes);
    }
    if (value_at(values, kDefault) == kName) put_back(values, kDefault, config.before);
    if (const auto found = config.before.find(kFound); found != config.before.end()) restore(config, *found);
    config.before = OrderedJson::object();
    return config;
}

DockerConfig while_removed(const DockerConfig& config) {
    DockerConfig next = without_runtime(config);
    next.before = config.before;
    next.is_restored = false;
    if (!next.values.contains(kRuntimes)) next.values[kRuntimes] = OrderedJson::object();
    if (config.values.contains(kDefault) && !next.values.contains(kDefault)) next.values[kDefault] = "runc";
    return next;
}

std::vector<std::string> lost_entries(const DockerConfig& config) {
    std::vector<std::string> lost;
    if (!config.before.contains(kConfigured)) return lost;
    const OrderedJson runtimes = value_at(config.values, kRuntimes);
    const auto is_there = [&](const char* name) {
        return runtimes.is_object() && is_ours(value_at(runtimes, name));
    };
    if (!is_there(kName)) lost.emplace_back("runtimes.cgpu");
    if (was_configured(config, kAsNvidia) && !is_there(kNvidia)) lost.emplace_back("runtimes.nvidia");
    if (was_configured(config, kAsDefault) && !is_default_runtime(config.values)) lost.emplace_back(kDefault);
    return lost;
}

std::string command_for(const DockerConfig& config) {
    return std::string("cgpuctl runtime configure") +
           (was_configured(config, kAsNvidia) ? " --as nvidia" : "") +
           (was_configured(config, kAsDefault) ? " --default" : "");
}

}  // namespace cgpu::cgpuctl
