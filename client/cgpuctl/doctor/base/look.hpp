#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/cgpuctl/doctor/base/host.hpp"
#include "client/node/node.hpp"

namespace cgpu::cgpuctl::doctor {

/// What shows on the system that there are instances, or were.
struct Traces {
    std::vector<std::string> folders;            ///< the ids of those that have a folder
    std::map<std::string, std::uint32_t> links;  ///< a process that has the link of this id mounted
};

/// Everything that the checks look at. It is read once, before them. The snapshot is read last: an instance
/// whose traces or processes were seen is in it, unless it has ended meanwhile.
struct Look {
    Host host;
    client::Result<client::ServiceState> service;
    std::optional<client::Snapshot> snapshot;        ///< empty: cgpud isn't running, or didn't answer
    std::optional<client::Examination> examination;  ///< the same; root alone gets it
    std::string no_examination;                      ///< why there is none
    std::string own_version;                         ///< cgpuctl's
    std::vector<client::ConfigurationValue> configuration = {};  ///< empty: not known
    Traces traces = {};  ///< only if root reads, and there is an examination
    /// Why the name service doesn't answer cgpud; empty: it does, or no limit needs it.
    std::string no_people = {};
};

constexpr const char* kNoDaemon = "cgpud does not answer";

}  // namespace cgpu::cgpuctl::doctor
