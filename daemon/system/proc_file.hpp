#pragma once

#include <string>

#include <tl/expected.hpp>

namespace cgpu::system {

/// The whole of a small file of /proc. Error: the errno.
tl::expected<std::string, int> read_text(const std::string& path);

}  // namespace cgpu::system
