#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

/// A folder with a file for each of several things that have an id.
namespace cgpu::store {

/// Makes it, for cgpud alone. It is cgpud's own: something else of its name is removed.
void make_record_folder(const std::filesystem::path& folder);

[[nodiscard]] std::filesystem::path record_path(const std::filesystem::path& folder, std::string_view id);

/// The paths of all that have the name of a record.
[[nodiscard]] std::vector<std::filesystem::path> records_in(const std::filesystem::path& folder);

}  // namespace cgpu::store
