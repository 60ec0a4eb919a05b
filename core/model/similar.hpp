#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Words that users write: without regard to case, and with typos.
namespace cgpu::model {

/// With the letters A to Z as small ones; other bytes stay.
[[nodiscard]] std::string lowered(std::string_view text);

/// How many letters must be inserted, removed, changed or exchanged with the next one to turn one into the
/// other.
[[nodiscard]] std::size_t distance(std::string_view a, std::string_view b);

/// The known word that was most likely meant, without regard to case: the first of those with the fewest
/// letters to change. Empty: half of the letters differ in each, so it is another word; or it is longer than
/// any typo of a name (64 bytes). The result lives as long as `known`'s texts.
[[nodiscard]] std::string_view most_similar(std::string_view written,
                                            const std::vector<std::string_view>& known);

}  // namespace cgpu::model
