#pragma once

#include <optional>
#include <string>

#include "client/cgpuctl/doctor/base/host.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl::doctor {

/// Everything that the checks look at. It is read once, before them.
struct Look {
    Host host;
    client::Result<client::ServiceState> service;
    std::optional<client::Snapshot> snapshot;        ///< empty: cgpud isn't running, or didn't answer
    std::optional<client::Examination> examination;  ///< the same; also, an older cgpud doesn't have it
    std::string no_examination;                      ///< why there is none
    std::string own_version;                         ///< cgpuctl's
};

constexpr const char* kNoDaemon = "cgpud does not answer";

}  // namespace cgpu::cgpuctl::doctor
