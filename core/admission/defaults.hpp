#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/bytes.hpp"
#include "core/model/mode.hpp"

namespace cgpu::limits {
class Allowance;
}

namespace cgpu::admission {

/// Which GPU a container gets if it names none.
enum class Placement : std::uint32_t {
    binpack,  ///< the fullest one that it fits on
    spread,   ///< the emptiest
};

/// What happens to an instance for which no weight is free. In cGPU's contract it is admitted and cannot
/// compute.
enum class NoWeight : std::uint32_t { warn, refuse };

/// The node's defaults for a request.
struct Defaults {
    /// For a container that requests memory without an amount (`default_memsize`). Zero: it is not managed.
    model::Bytes default_memory;
    std::uint32_t default_weight = 1;
    std::map<std::string, std::uint32_t, std::less<>> weights;  ///< by container name
    Placement placement = Placement::binpack;
    NoWeight no_weight = NoWeight::warn;
    /// The mode of a request that names none, if the node was switched to one: so it may be refused on a GPU
    /// that still serves another mode. Empty: the mode of the GPU.
    std::optional<model::Mode> mode;
    /// What its owner may still get. Null: as much as there is.
    const limits::Allowance* allowance = nullptr;

    friend bool operator==(const Defaults&, const Defaults&) = default;
};

[[nodiscard]] std::string_view to_string(Placement placement);
[[nodiscard]] std::string_view to_string(NoWeight no_weight);
/// `binpack` or `spread`. Error: what is wrong, without the text itself.
[[nodiscard]] tl::expected<Placement, std::string> parse_placement(std::string_view text);
/// `warn` or `refuse`. Error: what is wrong, without the text itself.
[[nodiscard]] tl::expected<NoWeight, std::string> parse_no_weight(std::string_view text);

}  // namespace cgpu::admission
