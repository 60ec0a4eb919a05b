#include "client/cgpuctl/docker/engine/docker_flags.hpp"

#include <string_view>

namespace cgpu::cgpuctl {
namespace {

/// The value of a flag that needs one: `--name=VALUE`, or the next word. Moves `at` to that.
std::optional<std::string> value_of(std::string_view name, const std::vector<std::string>& words,
                                    std::size_t& at) {
    const std::string_view word = words[at];
    if (word == name && at + 1 < words.size()) return words[++at];
    if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=')
        return std::string(word.substr(name.size() + 1));
    return std::nullopt;
}

void add_runtime(DockerFlags& flags, const std::string& value) {
    const auto equals = value.find('=');
    if (equals == std::string::npos)
        flags.runtimes.emplace(value, "");
    else
        flags.runtimes.emplace(value.substr(0, equals), value.substr(equals + 1));
}

}  // namespace

DockerFlags docker_flags(const std::vector<std::string>& words) {
    DockerFlags flags;
    for (std::size_t at = 0; at < words.size(); ++at) {
        if (const auto runtime = value_of("--add-runtime", words, at))
            add_runtime(flags, *runtime);
        else if (auto chosen = value_of("--default-runtime", words, at))
            flags.default_runtime = std::move(chosen);
        else if (auto file = value_of("--config-file", words, at))
            flags.config_file = std::move(*file);
        else if (auto host = value_of("--host", words, at))
            flags.hosts.push_back(std::move(*host));
        else if (auto short_host = value_of("-H", words, at))
            flags.hosts.push_back(std::move(*short_host));
        else if (value_of("--node-generic-resource", words, at))
            flags.generic_resources = true;
        else if (words[at].starts_with("-H") && words[at].size() > 2)
            flags.hosts.push_back(words[at].substr(2));
        else if (words[at] == "--rootless" || words[at] == "--rootless=true")
            flags.rootless = true;
    }
    return flags;
}

}  // namespace cgpu::cgpuctl
