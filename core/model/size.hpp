#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/bytes.hpp"

namespace cgpu::model {

/// Reads a size as users write it: `5120MiB`, `4GiB`, `4G`, `1.5g`, `512 MB`, `4509925376B`. All units are
/// powers of 1024, as Docker reads them, in upper or lower case. A number without a unit is refused (except
/// 0), because it could mean MiB or GiB. Error: what is wrong with the text, without the variable's name.
[[nodiscard]] tl::expected<Bytes, std::string> parse_size(std::string_view text);

/// The shortest exact form from which parse_size() reads the same value: `4GiB`, `4301MiB`, `512KiB`, `17B`.
[[nodiscard]] std::string format_size(Bytes size);

/// In whole MiB, rounded down: for free and total amounts in messages.
[[nodiscard]] std::string format_mib(Bytes size);

/// In MiB, with one decimal unless they are whole, rounded up: for what is asked for beside amounts in MiB.
[[nodiscard]] std::string format_mib_up(Bytes size);

}  // namespace cgpu::model
