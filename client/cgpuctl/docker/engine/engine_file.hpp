#pragma once

#include <string>

#include "client/node/values/client_error.hpp"

/// The configuration files of container engines: others wrote them, and the engine may read them at any time.
namespace cgpu::cgpuctl {

/// Empty if there is no such file. Error (failed, not_authorized): it exists and can't be read; it would be
/// overwritten.
[[nodiscard]] client::Result<std::string> read_engine_file(const std::string& file);
/// Writes the file in one step, through symbolic links; its mode and owner stay. Makes its folder. Error
/// (failed, not_authorized).
[[nodiscard]] client::Result<void> write_engine_file(const std::string& file, const std::string& text);
/// The file beside it in which it is kept as it was, while the runtime is in it.
[[nodiscard]] std::string before_file(const std::string& file);
/// Whether both paths lead to one file, links resolved.
[[nodiscard]] bool is_same_file(const std::string& left, const std::string& right);
/// It may be missing. Error (failed, not_authorized).
[[nodiscard]] client::Result<void> remove_engine_file(const std::string& file);

}  // namespace cgpu::cgpuctl
