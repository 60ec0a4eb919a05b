#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/model/bytes.hpp"
#include "core/model/instance.hpp"

/// Figures that were set at run time and are kept for the next starts of an instance's name (`--persist`).
namespace cgpu::model {

/// What is kept of one device. What isn't set is as the instance asks for it.
struct KeptFigures {
    std::optional<Bytes> memory_limit;    ///< more than zero
    std::optional<std::uint32_t> weight;  ///< slices, 1..25: never a percentage, as set_weight() sets none
    std::optional<bool> high_priority;

    friend bool operator==(const KeptFigures&, const KeptFigures&) = default;
};

/// For whom. With the owner in it nobody's instance is admitted with figures that were kept for another
/// user's of the same name.
struct KeptKey {
    std::uint32_t owner = 0;  ///< user id of who made the instance
    std::string name;         ///< of the instance, 1..kMaxKeptName bytes
    /// Which GPU of the instance, from 0, in the order in which it sees them. Not which card: placement may
    /// choose another one for the next start.
    std::uint32_t device = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend auto operator<=>(const KeptKey&, const KeptKey&) = default;
};

using Kept = std::map<KeptKey, KeptFigures>;
/// What is kept of one instance, by device.
using KeptOfInstance = std::map<std::uint32_t, KeptFigures>;

/// Devices that something can be kept of: the state is written as a whole at every change.
constexpr std::size_t kMaxKept = 256;
constexpr std::size_t kMaxKeptName = 255;

/// `memory limit 2GiB, weight 4, high priority`: what is set of it.
[[nodiscard]] std::string describe(const KeptFigures& figures);

/// The same of several devices; of all but the first one with `on its device 1` behind it.
[[nodiscard]] std::string describe(const KeptOfInstance& kept);

/// Whether the next start of the same container or job has the same name: false where it has none, or one
/// that is its id or the beginning of it.
[[nodiscard]] bool has_name_of_its_own(const InstanceId& id, const std::string& name);

}  // namespace cgpu::model
