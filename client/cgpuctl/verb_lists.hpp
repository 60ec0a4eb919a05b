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

inline const Option kJson{"--json", &Input::json, "",
                          "print JSON: stable keys, bytes, seconds, shares of 0..1"};
inline const Option kNoLegend{"--no-legend", &Input::no_legend, "", "print tables without headings"};
inline const Option kQuiet{"-q,--quiet", &Input::quiet, "", "print nothing on success"};
inline const Option kDryRun{"--dry-run", &Input::dry_run, "", "check everything and change nothing"};
inline const Option kIfGeneration{"--if-generation", &Input::if_generation, "N",
                                  "refuse it if the node has changed: describe has its generation"};
inline const Option kOnGpu{"--gpu", &Input::gpu, "GPU", "which of the instance's GPUs, if it has several"};
inline const Option kRuntime{
    "--runtime", &Input::runtime, "",
    "until the machine, not only cgpud, is started again; then the former value holds again"};
inline const Argument kGpu{"GPU", &Input::gpu,
                           "index, UUID (or its beginning: GPU- and 8 digits) or PCI address"};

}  // namespace cgpu::cgpuctl
