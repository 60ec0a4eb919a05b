#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/node.hpp"

namespace cgpu::model {

/// One of Node's transitions with its arguments: done completely or, with a Refusal, not at all.
using Transition = std::function<tl::expected<Change, Refusal>(Node&)>;

/// The transition that was refused, by its place in the list.
struct Refused {
    std::size_t which = 0;
    Refusal refusal;
};

/// Does all of them, or leaves the node as it was. They may stand in any order, because what one needs may be
/// freed by another: one that is refused is tried again as long as others succeed. So two instances can
/// exchange their weights on a full GPU. No two of them may set the same thing.
[[nodiscard]] tl::expected<Change, Refused> do_all(Node& node, const std::vector<Transition>& transitions);

}  // namespace cgpu::model
