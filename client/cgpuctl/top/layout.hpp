#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "client/cgpuctl/top/base/styled.hpp"
#include "client/cgpuctl/top/session.hpp"

namespace cgpu::cgpuctl::top {

/// A whole screen.
struct Picture {
    std::vector<Line> lines;                           ///< as many as the screen has
    std::optional<std::size_t> cursor = std::nullopt;  ///< column of the last line in which the user types
};

/// `utf8`: the terminal shows more than ASCII.
[[nodiscard]] Picture draw(const Session& session, Size size, bool utf8);

/// The same for a file: without keys and selection, and as long as it needs to be.
[[nodiscard]] std::vector<Line> frame(const Session& session, std::size_t width, bool utf8);

}  // namespace cgpu::cgpuctl::top
