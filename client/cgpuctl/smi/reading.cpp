#include "client/cgpuctl/smi/reading.hpp"

#include <thread>
#include <utility>

namespace cgpu::cgpuctl::smi {

Clock system_clock() {
    return {[] { return std::chrono::steady_clock::now(); },
            [](std::chrono::steady_clock::time_point until) { std::this_thread::sleep_until(until); },
            [] {
                return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(
                                                      std::chrono::system_clock::now().time_since_epoch())
                                                      .count());
            }};
}

client::Result<Reading> take_reading(client::Node& node, const Clock& clock) {
    const auto begun = clock.now();
    auto snapshot = node.read();
    if (!snapshot) return tl::unexpected(snapshot.error());
    // The figures are read one after the other, the middle one now; those of usage may be older.
    const std::chrono::nanoseconds age(snapshot->usage_age);
    return Reading{{std::move(*snapshot), clock.seconds_since_1970(), std::nullopt},
                   begun + (clock.now() - begun) / 2 - age};
}

}  // namespace cgpu::cgpuctl::smi
