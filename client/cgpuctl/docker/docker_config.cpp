#include "client/cgpuctl/docker/docker_config.hpp"

#include <filesystem>

#include "client/cgpuctl/docker/engine_file.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;
using client::Result;
using Kind = client::ClientError::Kind;

constexpr const char* kName = "cgpu";
constexpr const char* kNvidia = "nvidia";
constexpr const char* kDefault = "default-runtime";
constexpr const char* kRuntimes = "runtimes";

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
           fs::path(path->get<std::string>()).filename() == "cgpu-runtime";
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

}  // namespace

std::string before_file(const std::string& file) { return file + ".before-cgpu"; }

Result<DockerConfig> read_docker_config(const std::string& file) {
    DockerConfig config;
    std::string text;
    std::string unused;
    auto values = read_object(file, text);
    if (!values) return tl::unexpected(values.error());
    auto before = read_object(before_file(file), unused);
    if (!before) return tl::unexpected(before.error());
    return DockerConfig{std::move(*values), std::move(*before), indent_of(text)};
}

Result<void> write_docker_config(const std::string& file, const DockerConfig& config) {
    // The former values are saved before they are removed.
    if (!config.before.empty())
        if (auto kept = write_engine_file(before_file(file), config.before.dump(4) + "\n"); !kept)
            return kept;
    const bool tabs = config.indent.starts_with('\t');
    const std::string text =
        config.values.dump(static_cast<int>(config.indent.size()), tabs ? '\t' : ' ') + "\n";
    if (auto written = write_engine_file(file, text); !written) return written;
    std::error_code none;
    if (config.before.empty()) fs::remove(before_file(file), none);
    return {};
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
        if (is_ours(value_at(runtimes, kNvidia))) {
            const OrderedJson old = value_at(config.before, kNvidia);
            if (old.is_null())
                runtimes.erase(kNvidia);
            else
                runtimes[kNvidia] = old;
        }
    }
    if (value_at(values, kDefault) == kName) {
        const OrderedJson old = value_at(config.before, kDefault);
        values[kDefault] = old.is_string() ? old : OrderedJson("runc");
    }
    config.before = OrderedJson::object();
    return config;
}

}  // namespace cgpu::cgpuctl
