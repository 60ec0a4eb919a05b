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

/// Who starts, and what each of those waits for that stay, in one line: by which right it was passed can be
/// read from it. `job (3f2a…) starts; train (5b1c…) waits for room, 8877ms at most; …`
[[nodiscard]] std::string describe(const Decision& decision, Nanos now, const NameOf& name_of);

}  // namespace cgpu::queue
