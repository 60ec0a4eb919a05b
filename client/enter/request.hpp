#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "core/model/instance_id.hpp"

namespace cgpu::enter {

/// The arguments of cgpu-enter: `cgpu-enter INSTANCE COMMAND [ARGUMENT…]`. The caller chooses them, so none
/// of them is trusted.
struct Request {
    model::InstanceId instance;
    std::vector<std::string> command;  ///< not empty
};

/// `arguments`: without the program's own name. Error (usage).
[[nodiscard]] client::Result<Request> read_arguments(const std::vector<std::string>& arguments);

/// The entries of an environment as the kernel keeps it (/proc/PID/environ): each ends with a NUL. The
/// dynamic loader of a set-uid program removes LD_LIBRARY_PATH, LD_PRELOAD, TMPDIR and others from `environ`;
/// the kernel's copy still has them. The job gets all of them.
[[nodiscard]] std::vector<std::string> read_environment(std::string_view block);

/// The value of a variable, as getenv(3) finds it: of the first entry with this name. Empty: there is none.
[[nodiscard]] std::string value_of(const std::vector<std::string>& environment, std::string_view name);

}  // namespace cgpu::enter
