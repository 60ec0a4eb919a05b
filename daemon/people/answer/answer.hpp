#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/app/limits/people.hpp"

namespace cgpu::people {

/// What cgpu-people prints: the user's id (empty: there is none), its name, the number of its groups, and of
/// each group id and name, each ended by a NUL. Names of users have none.
[[nodiscard]] std::string write_answer(const app::Person& person);
/// Empty: it isn't a whole answer.
[[nodiscard]] std::optional<app::Person> read_answer(std::string_view text);

}  // namespace cgpu::people
