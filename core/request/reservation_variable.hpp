#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "core/request/request.hpp"

namespace cgpu::request {

/// For how long a reservation is held, if nobody says: seconds.
constexpr std::uint64_t kUsualHold = 600;

/// 128 bits in lower-case hex digits.
constexpr std::size_t kTokenLength = 32;

/// Whether it has the form of a reservation's token.
[[nodiscard]] bool is_token(std::string_view text);

/// Of a variable that says which part it is to be, beside a reservation.
[[nodiscard]] tl::unexpected<model::Refusal> refuse_part(std::string_view name);

/// The token of CGPU_RESERVATION; empty: there is none. Refused (invalid), without the value, which may be a
/// secret: it has another form, or a part is asked for besides the reservation's.
[[nodiscard]] tl::expected<std::optional<std::string>, model::Refusal> read_reservation(
    const Variables& variables);

}  // namespace cgpu::request
