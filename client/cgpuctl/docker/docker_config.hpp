#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kDockerFile = "/etc/docker/daemon.json";

/// Docker's daemon.json, with all its content in the original order.
struct DockerConfig {
    OrderedJson values = OrderedJson::object();
    /// The values that our entries replaced, or null if there were none: by "nvidia" (an entry of runtimes)
    /// and "default-runtime". Docker refuses unknown keys, so they are kept in a file of their own.
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

/// The file in which `before` is kept.
[[nodiscard]] std::string before_file(const std::string& file);

/// Error (failed): it is not a JSON object; the text has the place of the fault. A missing or empty file is
/// an empty object.
[[nodiscard]] client::Result<DockerConfig> read_docker_config(const std::string& file);
/// Writes the file in one step, through symbolic links; its mode and owner stay. Error (failed).
[[nodiscard]] client::Result<void> write_docker_config(const std::string& file, const DockerConfig& config);

/// Adds the runtime `cgpu` (and `nvidia`, and the default). Adding it twice has no further effect. Error
/// (refused): `runtimes` is not an object.
[[nodiscard]] client::Result<DockerConfig> with_runtime(DockerConfig config, const DockerWish& wish);
/// Whether containers that name no runtime get cgpu's, under whatever name.
[[nodiscard]] bool is_default_runtime(const OrderedJson& values);
/// Removes the runtime. If the default was ours, its former value is restored, or `runc` is written: dockerd
/// keeps the last value of a key that disappears.
[[nodiscard]] DockerConfig without_runtime(DockerConfig config);

}  // namespace cgpu::cgpuctl
