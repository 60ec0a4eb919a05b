#pragma once

#include <string>
#include <string_view>

namespace cgpu::model {

/// The text as the bus and JSON take it: U+FFFD stands for each byte that isn't UTF-8, and for each code that
/// Unicode has set apart as no letter (sd-bus refuses those, too). The same text always becomes the same, so
/// a name is found by the bytes that it was given as.
[[nodiscard]] std::string valid_utf8(std::string_view text);

}  // namespace cgpu::model
