#include "core/request/memory_share.hpp"

namespace cgpu::request {
namespace {

constexpr std::uint64_t kMibPerGib = 1024;

}  // namespace

tl::expected<std::uint64_t, std::string> memory_limit_mib(std::uint64_t total_mib, std::uint64_t container,
                                                          std::optional<std::uint64_t> dev, bool in_mib) {
    const std::uint64_t rounded_up = total_mib / kMibPerGib + (total_mib % kMibPerGib != 0 ? 1 : 0);
    const std::uint64_t floor_mib = total_mib / kMibPerGib * kMibPerGib;
    in_mib = in_mib || (dev && floor_mib > 0 && *dev > rounded_up && *dev >= floor_mib &&
                        *dev <= rounded_up * kMibPerGib);
    const std::uint64_t most = in_mib ? rounded_up * kMibPerGib : rounded_up;
    const std::string unit = in_mib ? "MiB" : "GiB";
    const std::uint64_t of = dev.value_or(in_mib ? total_mib : total_mib / kMibPerGib);
    if (of == 0)
        return tl::unexpected(dev ? "a card of 0" + unit + " does not exist"
                                  : "the card has less than 1GiB (" + std::to_string(total_mib) + "MiB)");
    if (of > most)
        return tl::unexpected("the card has " + std::to_string(total_mib) + "MiB, which is less than the " +
                              std::to_string(of) + unit + " it is said to have");
    if (container == 0) return tl::unexpected("0" + unit + " is no memory");
    if (container > of)
        return tl::unexpected(std::to_string(container) + unit + " is asked for and the card has " +
                              std::to_string(of) + unit);
    // No overflow: container ≤ of, and of ≤ total_mib + 1024, which is far below 2^37 (128 PiB): the rest is
    // multiplied by itself.
    return total_mib / of * container + total_mib % of * container / of;
}

}  // namespace cgpu::request
