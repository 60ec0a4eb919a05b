#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::model {

/// Bytes of Owner::declared at most.
constexpr std::size_t kMaxOwnerName = 64;
/// Where an owner is a number: there is none. (uid_t)-1, which the system gives to no user.
constexpr std::uint32_t kNobody = 0xFFFFFFFF;

/// Whose an instance is. At most one of both is set; neither: it isn't known, as of a container of root's
/// engine that declares nobody.
struct Owner {
    /// The unix user that runs it, verified from its process: of a job, or of a rootless engine.
    std::optional<std::uint32_t> user = std::nullopt;
    /// What a container of root's engine says itself (CGPU_OWNER): a claim.
    std::string declared = {};

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend auto operator<=>(const Owner&, const Owner&) = default;
};

/// Why the text is no name that an owner may be declared by. A number is none: it would be mistaken for a
/// verified user's.
[[nodiscard]] tl::expected<void, std::string_view> check_owner_name(std::string_view name);

/// `user id 1000`, `alice (declared)`, or `nobody known`.
[[nodiscard]] std::string describe(const Owner& owner);

}  // namespace cgpu::model
