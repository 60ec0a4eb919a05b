#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "client/node/client_error.hpp"

namespace cgpu::cgpuctl {

using OrderedJson = nlohmann::ordered_json;

/// Docker's daemon.json, with everything in it kept in its order.
struct DockerConfig {
    OrderedJson values = OrderedJson::object();
    /// What stood where now an entry of ours stands, or null for nothing: by "nvidia" (an entry of runtimes)
    /// and "default-runtime". Docker refuses keys that it doesn't know, so this lies in a file of its own.
    OrderedJson before = OrderedJson::object();
    std::string indent = "    ";  ///< as the file has it

    friend bool operator==(const DockerConfig&, const DockerConfig&) = default;
};

/// What to register.
struct DockerWish {
    std::string program;  ///< the runtime wrapper's path
    bool as_nvidia = false;
    bool as_default = false;
};

/// Where `before` is kept.
[[nodiscard]] std::string before_file(const std::string& file);

/// Error (failed): it is no JSON object; the text says where it ends to be one. A missing or empty file is an
/// empty object.
[[nodiscard]] client::Result<DockerConfig> read_docker_config(const std::string& file);
/// In one step, through symbolic links; the file's mode and owner stay. Error (failed).
[[nodiscard]] client::Result<void> write_docker_config(const std::string& file, const DockerConfig& config);

/// With the runtime `cgpu` in it (and as `nvidia`, and as the default). Twice is as once. Error (refused):
/// `runtimes` is no object.
[[nodiscard]] client::Result<DockerConfig> with_runtime(DockerConfig config, const DockerWish& wish);
/// Without it. A default that was ours becomes what it was before or `runc`: dockerd goes on with the last
/// value of a key that disappears.
[[nodiscard]] DockerConfig without_runtime(DockerConfig config);

}  // namespace cgpu::cgpuctl
