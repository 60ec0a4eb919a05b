#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "daemon/store/state.hpp"

namespace cgpu::store {

/// Why a text is no state: what and where, and what to do about it.
struct Unreadable {
    std::string why;
    std::string remedy;
};

/// The state as JSON, one field a line, the version first: the package's scripts read it so, too. Names that
/// are not UTF-8 are written with replacement characters.
[[nodiscard]] std::string write_state(const State& state);

/// Reads what write_state() wrote, of this version or an older one. Fields that are missing, unknown or wrong
/// are an error, as is a state that breaks the rules of Node.
[[nodiscard]] tl::expected<State, Unreadable> read_state(std::string_view text);

}  // namespace cgpu::store
