#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "daemon/store/migrate.hpp"
#include "daemon/store/state.hpp"

namespace cgpu::store {

/// Why a text is not a valid state: the fault with its place, and a remedy.
struct Unreadable {
    std::string why;
    std::string remedy;
};

/// The state as JSON, one field per line, the version first: the package's scripts read it in this form, too.
/// Names that are not UTF-8 are written with replacement characters.
[[nodiscard]] std::string write_state(const State& state);

/// Reads what write_state() wrote, of this version or an older one. Missing, unknown or invalid fields are an
/// error, and so is a state that violates the rules of Node.
[[nodiscard]] tl::expected<State, Unreadable> read_state(std::string_view text,
                                                         const Layouts& layouts = Layouts::today());

}  // namespace cgpu::store
