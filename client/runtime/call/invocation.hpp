#pragma once

#include <string>
#include <vector>

namespace cgpu::runtime {

/// The call of an OCI runtime, as far as it matters here: `[global options] COMMAND [options] ID`.
struct Invocation {
    std::string command;       ///< create, start, kill, …; empty if there is none
    std::string id;            ///< of the container; empty if there is none
    std::string bundle;        ///< as written; empty: the working folder
    std::string log;           ///< the file of --log; empty if there is none
    bool log_as_json = false;  ///< --log-format json
    std::string root;          ///< the folder of --root; empty if there is none
    std::string process;       ///< the file of `exec --process`; empty if there is none

    /// Whether it creates a new container.
    [[nodiscard]] bool creates() const { return command == "create" || command == "run"; }
};

/// Reads the arguments (without the program's name) as runc and crun do. There are no errors: the next
/// runtime refuses invalid arguments.
[[nodiscard]] Invocation read_invocation(const std::vector<std::string>& arguments);

}  // namespace cgpu::runtime
