#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cgpuctl/why/observed.hpp"

namespace cgpu::cgpuctl::why {

struct Reason {
    std::string_view code;  ///< stable, for scripts: without-work
    std::string text;       ///< whole sentences
};

/// What explains the share that an instance got, the weightiest first, and what else holds it up. Never
/// empty.
[[nodiscard]] std::vector<Reason> reasons(const Observed& seen);

}  // namespace cgpu::cgpuctl::why
