#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client/node/values/snapshot.hpp"

namespace cgpu::cgpuctl::smi {

/// One reading of the node, with how busy the GPUs were before it.
struct View {
    client::Snapshot snapshot;
    std::uint64_t taken = 0;  ///< seconds since 1970
    /// The time since the reading before, over which utilisation is measured. Empty in the first reading:
    /// then it is the share that cgpud has measured, over about two seconds.
    std::optional<std::chrono::nanoseconds> interval;
};

/// The part of the GPU's time that the instance used, 0..1. `before` is the reading before, if there is one.
/// Of an instance that is new since then, and after a restart of cgpud, it is the share that cgpud has
/// measured. Empty if the driver divides the compute: nothing is measured then.
[[nodiscard]] std::optional<double> utilization(const client::Instance& instance, const client::OnGpu& place,
                                                const View* before, const View& now);

/// The same of all instances of the GPU together. Programs outside cgpu don't count.
[[nodiscard]] std::optional<double> utilization(const client::Gpu& gpu, const View* before, const View& now);

/// How long the launches of the instance waited for their turn, as a part of the time since the reading
/// before. Empty without a reading before, of an instance that is new since then, and if the driver divides
/// the compute.
[[nodiscard]] std::optional<double> waiting(const client::Instance& instance, const client::OnGpu& place,
                                            const View* before, const View& now);

/// The instances of the GPU.
[[nodiscard]] std::uint32_t instances_on(const client::Snapshot& snapshot, const client::Gpu& gpu);

}  // namespace cgpu::cgpuctl::smi
