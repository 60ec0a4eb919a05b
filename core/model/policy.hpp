#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace cgpu::model {

/// How one GPU's compute is divided between its instances; the numbers are those people write (S4).
enum class Policy : std::uint32_t {
    fair_share = 0,  ///< 1/max_inst each, always; unused slices stay idle
    preemptive = 1,  ///< 1/(busy instances), in exclusive turns
    weighted = 2,    ///< weight/Σ weight of the present; a present one that doesn't compute burns its slices
    fixed = 3,       ///< weight/max_inst, hard floor and hard cap
    soft = 4,        ///< as preemptive, turns may overlap
    native = 5,      ///< the driver decides
};

/// "fair-share", "preemptive", "weighted", "fixed", "soft", "native"; "unknown" for a number that is no
/// policy.
std::string_view to_string(Policy policy);

/// Takes a number ("2") or a name ("weighted"). The error is a whole sentence for people.
tl::expected<Policy, std::string> parse_policy(std::string_view text);

/// Whether an instance's weight decides its part of the compute.
bool weight_counts(Policy policy);

}  // namespace cgpu::model
