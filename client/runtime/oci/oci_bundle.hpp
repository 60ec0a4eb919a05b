#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "client/run/job/run_request.hpp"

namespace cgpu::runtime {

using client::Result;
using client::Variables;
using Json = nlohmann::ordered_json;

/// The list below the pointer, or an empty one.
[[nodiscard]] inline Json list_at(const Json& config, const Json::json_pointer& where) {
    return config.contains(where) && config[where].is_array() ? config[where] : Json::array();
}

/// The first arguments of the hook that makes cgpu's mounts.
inline const std::vector<std::string> kMountHook = {"cgpu-runtime", "hook", "mount"};

/// Whether a hook's arguments begin with these.
[[nodiscard]] bool begins_with(const Json& hook, const std::vector<std::string>& arguments);

/// The config.json of a container that is being created (OCI runtime specification).
class OciBundle {
  public:
    /// Error (failed): it can't be read, or is not a JSON object.
    [[nodiscard]] static Result<OciBundle> read(const std::string& folder);

    /// The environment of its process; if a name occurs twice, the last value (as in runc).
    [[nodiscard]] Variables environment() const;
    /// Of that environment; empty if there is none.
    [[nodiscard]] std::string variable(const std::string& name) const;
    [[nodiscard]] Variables annotations() const;
    /// Empty if it has none.
    [[nodiscard]] std::string host_name() const;
    /// What is mounted at `destination` in it, as a path on the host; empty if nothing is.
    [[nodiscard]] std::string mount_source(const std::string& destination) const;
    /// Whether it was given a part of a GPU: it has the hook that makes cgpu's mounts.
    [[nodiscard]] bool is_managed() const;
    /// The paths of the programs of its hooks of a stage.
    [[nodiscard]] std::vector<std::string> hook_programs(const std::string& stage) const;
    /// The folder of config.json.
    [[nodiscard]] const std::string& folder() const { return folder_; }
    /// Its root file system, as an absolute path on the host.
    [[nodiscard]] std::string root() const;

    /// The whole file, for readers and editors of one part of it.
    [[nodiscard]] const Json& config() const { return config_; }
    [[nodiscard]] Json& config() { return config_; }

    /// Replaces every entry of that name.
    void set_variable(const std::string& name, const std::string& value);
    void remove_variable(const std::string& name);
    /// An empty value removes it.
    void set_annotation(const std::string& name, const std::string& value);
    /// `stage`: createRuntime, createContainer, poststop. Comes after the existing hooks.
    void add_hook(const std::string& stage, Json hook);

    /// Moves the hooks of the stage whose arguments begin with these behind all others, in their order.
    /// False: they are there already, or there are none.
    bool move_hooks_to_the_end(const std::string& stage, const std::vector<std::string>& arguments);

    /// Removes the hooks of the stage whose arguments begin with these.
    void remove_hooks(const std::string& stage, const std::vector<std::string>& arguments);

    /// Writes in one step: concurrent readers see the old file or the new one.
    [[nodiscard]] Result<void> write() const;

  private:
    OciBundle(std::string folder, Json config) : folder_(std::move(folder)), config_(std::move(config)) {}
    [[nodiscard]] std::string path() const { return folder_ + "/config.json"; }

    std::string folder_;
    Json config_;
};

}  // namespace cgpu::runtime
