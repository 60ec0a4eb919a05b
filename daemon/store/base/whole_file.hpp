#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <tl/expected.hpp>

namespace cgpu::store {

/// The content of a regular file; empty if there is none. `flags`: further ones of open(2). Error: the
/// system's reason.
[[nodiscard]] tl::expected<std::optional<std::string>, std::error_code> whole_file(
    const std::filesystem::path& path, int flags = 0);

}  // namespace cgpu::store
