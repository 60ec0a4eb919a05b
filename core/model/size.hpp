#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/bytes.hpp"

namespace cgpu::model {

/// Reads a size as people write it: `5120MiB`, `4GiB`, `4G`, `1.5g`, `512 MB`, `4509925376B`. All units are
/// powers of 1024, as Docker reads them, in either case. A number without a unit is refused (except 0),
/// because half of the readers would take it for MiB and half for GiB. Error: what is wrong with the text,
/// without naming the variable.
[[nodiscard]] tl::expected<Bytes, std::string> parse_size(std::string_view text);

/// The shortest exact form that parse_size() reads back to the same value: `4GiB`, `4301MiB`, `512KiB`,
/// `17B`.
[[nodiscard]] std::string format_size(Bytes size);

/// In whole MiB, the rest cut off: what is free or there in all, in messages.
[[nodiscard]] std::string format_mib(Bytes size);

}  // namespace cgpu::model
