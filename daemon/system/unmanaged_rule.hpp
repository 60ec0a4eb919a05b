#pragma once

#include <filesystem>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"

namespace cgpu::system {

/// Tells cgpu-runtime whether a container that asks for no part of a GPU may start while cgpud can't be
/// asked: FOLDER/unmanaged has the rule, unless that is `allow`; then there is no such file. Refused
/// (storage).
[[nodiscard]] tl::expected<void, model::Refusal> write_unmanaged_rule(const std::filesystem::path& folder,
                                                                      std::string_view rule);

}  // namespace cgpu::system
