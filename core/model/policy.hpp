#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace cgpu::model {

/// How one GPU's compute is divided between its instances; 0 to 5 are those of cGPU's contract.
enum class Policy : std::uint32_t {
    fair_share = 0,  ///< 1/max_inst each, always; unused slices stay idle
    preemptive = 1,  ///< 1/(busy instances), in exclusive turns
    weighted = 2,    ///< weight/Σ weight of the present; slices of a present idle one stay idle
    fixed = 3,       ///< weight/max_inst, hard floor and hard cap
    soft = 4,        ///< as preemptive, turns may overlap
    native = 5,      ///< the driver decides
    /// Not cGPU's: the requested percentage of those with work, the rest by the weights of the others with
    /// work, in exclusive turns.
    proportional = 6,
};

/// All of them, by number.
std::span<const Policy> policies();

/// "fair-share", "preemptive", "weighted", "fixed", "soft", "native", "proportional"; "unknown" for an
/// invalid number.
std::string_view to_string(Policy policy);

/// Takes a number ("2") or a name ("weighted"), without regard to case. The error is a complete sentence for
/// users.
tl::expected<Policy, std::string> parse_policy(std::string_view text);

/// The name of the policy that was most likely meant by a text that is none; empty: no name is similar.
std::string_view likely_policy(std::string_view text);

/// Whether an instance's weight has an effect on its share of the compute.
bool weight_counts(Policy policy);

}  // namespace cgpu::model
