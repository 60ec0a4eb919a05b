#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/bytes.hpp"
#include "core/model/quota.hpp"
#include "core/model/refusal.hpp"
#include "core/request/request.hpp"

namespace cgpu::request {

/// What a request asks for, or may ask for at most. An empty part says nothing.
struct ProfileValues {
    std::optional<model::Bytes> memory = std::nullopt;    ///< on each GPU
    std::optional<std::uint32_t> percent = std::nullopt;  ///< of each GPU's compute, 1..100
    std::optional<std::uint32_t> weight = std::nullopt;   ///< slices, instead of a percentage
    std::optional<std::uint32_t> gpus = std::nullopt;     ///< how many
    std::optional<bool> high_priority = std::nullopt;     ///< as a maximum, false: normal priority only
    std::optional<std::uint64_t> time = std::nullopt;     ///< seconds
    std::optional<std::uint64_t> idle = std::nullopt;     ///< seconds without work

    friend bool operator==(const ProfileValues&, const ProfileValues&) = default;
};

/// A named set of values for requests (CGPU_PROFILE).
struct Profile {
    ProfileValues values;  ///< what a request asks for that says nothing else
    ProfileValues max;     ///< what it may ask for instead, at most

    friend bool operator==(const Profile&, const Profile&) = default;
};

/// Whether the profile's own values are none that it would allow.
[[nodiscard]] bool exceeds_its_max(const Profile& profile);

/// By name.
using Profiles = std::map<std::string, Profile>;

/// Whether a profile can have the name: 1..64 letters, digits, `-` and `_`, the first a letter
/// or a digit.
[[nodiscard]] bool is_profile_name(std::string_view name);

/// Fills in what the request leaves to its profile; nothing if it names none. Refused: not_found; invalid (it
/// asks for more than the profile's maximum).
[[nodiscard]] tl::expected<void, model::Refusal> apply_profile(Request& request, const Profiles& profiles);

/// The same of what it was granted: a share of a card, and kept settings, may be more than they look.
/// Refused: invalid.
[[nodiscard]] tl::expected<void, model::Refusal> check_granted(const Request& request,
                                                               const Profiles& profiles,
                                                               const std::vector<model::Quota>& quotas);

}  // namespace cgpu::request
