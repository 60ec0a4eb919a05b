#pragma once

#include <span>

#include "client/cgpuctl/base/verb.hpp"

/// The verbs in three lists, in the order of the help, and what several of them take.
namespace cgpu::cgpuctl {

/// What shows something.
[[nodiscard]] std::span<const Verb> looking_verbs();
/// What changes settings, of GPUs, instances and the node.
[[nodiscard]] std::span<const Verb> changing_verbs();
/// Jobs, and what concerns the node's software.
[[nodiscard]] std::span<const Verb> node_verbs();

inline constexpr Option kJson{"--json", field<&Input::json>, "",
                              "print JSON: stable keys, bytes, seconds, shares of 0..1"};
inline constexpr Option kNoLegend{"--no-legend", field<&Input::no_legend>, "",
                                  "print tables without headings"};
inline constexpr Option kQuiet{"-q,--quiet", field<&Input::quiet>, "", "print nothing on success"};
inline constexpr Option kNoWarnings{"-q,--quiet", field<&Input::quiet>, "", "leave out the warnings"};
inline constexpr Option kDryRun{"--dry-run", field<&Input::dry_run>, "",
                                "check everything and change nothing"};
inline constexpr Option kIfGeneration{"--if-generation", field<&ChangingInput::if_generation>, "N",
                                      "refuse it if the node has changed: describe has its generation"};

// What verbs with inputs of their own have in common.
[[nodiscard]] constexpr Option on_gpu(Field field) {
    return {"--gpu", field, "GPU", "which of the instance's GPUs, if it has several"};
}
[[nodiscard]] constexpr Option until_reboot(Field field) {
    return {"--runtime", field, "",
            "until the machine, not only cgpud, is started again; then the former value holds again"};
}
[[nodiscard]] constexpr Argument gpu_argument(Field field) {
    return {"GPU", field, "index, UUID (or its beginning: GPU- and 8 digits) or PCI address"};
}
inline constexpr Option kRuntime = until_reboot(field<&ChangingInput::runtime>);

}  // namespace cgpu::cgpuctl
