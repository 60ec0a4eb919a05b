#pragma once

#include <string>
#include <vector>

namespace cgpu::runtime {

/// How an OCI runtime is called, as far as it matters here: `[global options] COMMAND [options] ID`.
struct Invocation {
    std::string command;       ///< create, start, kill, …; empty where there is none
    std::string id;            ///< of the container; empty where there is none
    std::string bundle;        ///< as written; empty: the working folder
    std::string log;           ///< the file of --log; empty where there is none
    bool log_as_json = false;  ///< --log-format json

    /// It makes a new container.
    [[nodiscard]] bool creates() const { return command == "create" || command == "run"; }
};

/// Reads the arguments (without the program's name) as runc and crun do. Nothing here is an error: what makes
/// no sense is for the next runtime to refuse.
[[nodiscard]] Invocation read_invocation(const std::vector<std::string>& arguments);

}  // namespace cgpu::runtime
