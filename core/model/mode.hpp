#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::model {

/// What is isolated on a GPU. A GPU serves one mode at a time.
enum class Mode : std::uint32_t {
    none = 0,            ///< sharing only: memory is booked at admission, nothing is enforced
    memory = 1,          ///< memory is enforced; the driver shares the compute (policy 5 is in force)
    memory_compute = 2,  ///< memory and compute are enforced
};

/// `none`, `memory`, `memory+compute`.
[[nodiscard]] std::string_view to_string(Mode mode);

/// Reads what to_string() returns. Error: what is wrong, without the text itself.
[[nodiscard]] tl::expected<Mode, std::string> parse_mode(std::string_view text);

}  // namespace cgpu::model
