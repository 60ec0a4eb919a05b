#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cgpu::model {

/// `1 instance`, `2 instances`; `2 processes` for a noun that ends in s.
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun);

}  // namespace cgpu::model
