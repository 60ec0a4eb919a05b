#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "client/cgpuctl/docker/engine/running_docker.hpp"
#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

using OrderedJson = nlohmann::ordered_json;

/// Docker's daemon.json, with all its content in the original order.
struct DockerConfig {
    OrderedJson values = OrderedJson::object();
    /// What was before our entries, and what they are. Docker refuses unknown keys, so it is kept in a file
    /// of its own. "nvidia" (an entry of runtimes) and "default-runtime": the values that ours replaced, or
    /// null if there were none. "file": the file's text as it was found, or null if there was none.
    /// "configured": what was asked for, "as-nvidia" and "default", each true or false.
    OrderedJson before = OrderedJson::object();
    std::string indent = "    ";      ///< as the file has it
    std::optional<std::string> text;  ///< the file's; none: there is none
    bool is_restored = false;  ///< `text` is what the file had before, and is written instead of the values

    /// Whether both say the same.
    friend bool operator==(const DockerConfig& left, const DockerConfig& right) {
        return left.values == right.values && left.before == right.before;
    }
};

/// What to register.
struct DockerWish {
    std::string program;  ///< the runtime wrapper's path
    bool as_nvidia = false;
    bool as_default = false;
};

/// Error (failed): it is not a JSON object; the text has the place of the fault. A missing or empty file is
/// an empty object.
[[nodiscard]] client::Result<DockerConfig> read_docker_config(const std::string& file);
/// Writes the file in one step, through symbolic links; its mode and owner stay. Removes it if what is
/// restored is that there was none. Error (failed).
[[nodiscard]] client::Result<void> write_docker_config(const std::string& file, const DockerConfig& config);

/// Where a dockerd listens on this machine, by its flags and its file.
[[nodiscard]] std::vector<std::string> docker_sockets(const RunningDocker& docker,
                                                      const DockerConfig& config);

/// Adds the runtime `cgpu` (and `nvidia`, and the default). Adding it twice has no further effect. Error
/// (refused): `runtimes` is not an object.
[[nodiscard]] client::Result<DockerConfig> with_runtime(DockerConfig config, const DockerWish& wish);
/// Whether a runtime's program is cgpu's, in whatever folder it is.
[[nodiscard]] bool is_cgpu_runtime(const std::string& path);
/// Whether containers that name no runtime get cgpu's, under whatever name.
[[nodiscard]] bool is_default_runtime(const OrderedJson& values);
/// Removes the runtime, and restores what was before. Its text is that which was found, if nobody has changed
/// anything else since; none, if there was no file.
[[nodiscard]] DockerConfig without_runtime(DockerConfig config);
/// The same for a dockerd that runs, and keeps the last value of a key that disappears: it reads `runtimes`,
/// and a default if that was ours. It is in the file for a moment only.
[[nodiscard]] DockerConfig while_removed(const DockerConfig& config);

/// What was configured once and is no longer so, such as `runtimes.nvidia` and `default-runtime`: another
/// program has written the file since. Empty: nothing.
[[nodiscard]] std::vector<std::string> lost_entries(const DockerConfig& config);
/// The command that makes it so again.
[[nodiscard]] std::string command_for(const DockerConfig& config);

}  // namespace cgpu::cgpuctl
