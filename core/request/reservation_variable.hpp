#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "core/request/request.hpp"

namespace cgpu::request {

/// 128 bits in lower-case hex digits.
constexpr std::size_t kTokenLength = 32;

/// Whether it has the form of a reservation's token.
[[nodiscard]] bool is_token(std::string_view text);

/// The token of CGPU_RESERVATION; empty: there is none. Refused (invalid), without the value, which may be a
/// secret: it has another form, or a part is asked for besides the reservation's.
[[nodiscard]] tl::expected<std::optional<std::string>, model::Refusal> read_reservation(
    const Variables& variables);

}  // namespace cgpu::request
