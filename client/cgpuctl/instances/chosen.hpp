#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/cgpuctl/base/input.hpp"
#include "client/cgpuctl/output/people.hpp"
#include "client/node/node.hpp"

/// Which instances a verb shows: --gpu, --user and --state.
namespace cgpu::cgpuctl {

/// The options that say it.
struct Choice : Input {
    std::string gpu;
    std::string user;
    std::string state;
};

/// What is wanted; what is empty doesn't matter.
struct Chosen {
    std::string gpu;  ///< UUID
    std::string user;
    std::optional<std::uint32_t> uid;  ///< of `user`; empty: only what containers declare can be meant
    std::string state;                 ///< queued, waiting, running, paused, unmanaged
};

/// `unmanaged` for a container without a limit, whatever its processes do.
[[nodiscard]] std::string state_text(const client::Instance& instance);

/// Reads the options. Error: no such GPU (not_found); a state or a user that nobody knows (usage).
[[nodiscard]] client::Result<Chosen> read_chosen(const Choice& input, const client::Snapshot& snapshot,
                                                 client::Node& node, UserNames& users);

/// Leaves only what is wanted in the reading. Instances keep all of their GPUs.
void keep_chosen(client::Snapshot& snapshot, const Chosen& chosen);

}  // namespace cgpu::cgpuctl
