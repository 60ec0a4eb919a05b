#pragma once

#include <functional>
#include <string>

#include "core/model/node.hpp"
#include "core/queue/next.hpp"

namespace cgpu::queue {

/// How people know a request that waits: `train (3f2a…)`.
using NameOf = std::function<std::string(Ticket)>;

/// What it waits for, as a sentence without a full stop: `GPU 0 has 2048MiB free, and 8192MiB are needed`.
[[nodiscard]] std::string explain(const Wait& wait, const model::Node& node, const NameOf& name_of);

}  // namespace cgpu::queue
