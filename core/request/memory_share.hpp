#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

namespace cgpu::request {

/// The memory limit in MiB of a container that requests `container` GiB of a card of `dev` GiB:
/// floor(total_mib × container / dev), by cGPU's contract and its examples: 16130 MiB, 4 of 15 → 4301; 15109,
/// 6 of 15 → 6043. `total_mib` is what can be allocated on the card. A missing `dev` is floor(total_mib /
/// 1024). Error, as what is wrong without the variables' names: `dev` is zero or above the card's GiB rounded
/// up, or `container` is zero or above `dev`.
/// With `in_mib` both are numbers of MiB, and a missing `dev` is `total_mib`. So they are without it if `dev`
/// is the card's size in MiB and can't be its GiB: the open device plugin doesn't say in which unit it
/// counts.
[[nodiscard]] tl::expected<std::uint64_t, std::string> memory_limit_mib(std::uint64_t total_mib,
                                                                        std::uint64_t container,
                                                                        std::optional<std::uint64_t> dev,
                                                                        bool in_mib = false);

}  // namespace cgpu::request
