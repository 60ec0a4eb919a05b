#pragma once

#include <string>

#include "client/runtime/oci/oci_bundle.hpp"

namespace cgpu::runtime {

/// Of files that others write. Null, or a discarded value, if it can't be read.
[[nodiscard]] Json read_json(const std::string& path);

/// The text at a JSON pointer (`/Config/Image`); empty if there is none.
[[nodiscard]] std::string text_at(const Json& json, const char* where);

}  // namespace cgpu::runtime
