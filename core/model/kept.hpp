#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/model/bytes.hpp"
#include "core/model/instance.hpp"

/// Settings that were made at run time and are kept for the next starts of an instance's name (`--persist`).
namespace cgpu::model {

/// The kept settings of one device. An unset one is as the instance requests it.
struct KeptFigures {
    std::optional<Bytes> memory_limit;    ///< more than zero
    std::optional<std::uint32_t> weight;  ///< slices, 1..25: never a percentage, as set_weight() sets none
    std::optional<bool> high_priority;

    friend bool operator==(const KeptFigures&, const KeptFigures&) = default;
};

/// Whose settings they are. The owner is part of the key, so that no instance is admitted with settings that
/// were kept for another user's instance of the same name.
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
/// The kept settings of one instance, by device.
using KeptOfInstance = std::map<std::uint32_t, KeptFigures>;

/// The maximum number of devices with kept settings: the state is written as a whole at every change.
constexpr std::size_t kMaxKept = 256;
constexpr std::size_t kMaxKeptName = 255;

/// `memory limit 2GiB, weight 4, high priority`: the settings that are kept.
[[nodiscard]] std::string describe(const KeptFigures& figures);

/// The same for several devices; for all but the first one with `on its device 1` after it.
[[nodiscard]] std::string describe(const KeptOfInstance& kept);

/// Whether the next start of the same container or job has the same name: false if it has none, or one that
/// is its id or a prefix of it.
[[nodiscard]] bool has_name_of_its_own(const InstanceId& id, const std::string& name);

}  // namespace cgpu::model
