#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <tl/expected.hpp>

#include "client/fs/tree.hpp"
#include "client/node/node.hpp"

namespace cgpu::fs {

// What a write to a file orders. GPUs by UUID, instances by id.
struct SetDefaultMemory {
    std::uint64_t bytes;
};
struct CreateInstance {
    std::string id, gpu;
};
struct ReleaseInstance {
    std::string id;
};
struct UpgradeModule {
    bool hot;
    std::string version;
};
using Order = std::variant<client::Change, SetDefaultMemory, CreateInstance, ReleaseInstance, UpgradeModule>;

/// Blanks and newlines around the text don't count. Error: an errno, EINVAL for a text that the file doesn't
/// take, EACCES for a file that can only be read.
[[nodiscard]] tl::expected<Order, int> read_order(const client::Snapshot& node, const Place& place,
                                                  std::string_view text);

[[nodiscard]] client::Result<void> carry_out(const Order& order, client::Node& node);

/// EINVAL, ENOSPC, ENOMEM, EBUSY, EPERM, …, as model::Refusal::Reason says; EIO if cgpud can't be reached.
[[nodiscard]] int errno_of(const client::ClientError& error);

}  // namespace cgpu::fs
