#include "core/request/memory_share.hpp"

namespace cgpu::request {
namespace {

constexpr std::uint64_t kMibPerGib = 1024;

}  // namespace

tl::expected<std::uint64_t, std::string> memory_limit_mib(std::uint64_t total_mib, std::uint64_t container,
                                                          std::optional<std::uint64_t> dev) {
    const std::uint64_t rounded_up = total_mib / kMibPerGib + (total_mib % kMibPerGib != 0 ? 1 : 0);
    const std::uint64_t of = dev.value_or(total_mib / kMibPerGib);
    if (of == 0)
        return tl::unexpected(dev ? std::string("a card of 0GiB does not exist")
                                  : "the card has less than 1GiB (" + std::to_string(total_mib) + "MiB)");
    if (of > rounded_up)
        return tl::unexpected("the card has " + std::to_string(total_mib) + "MiB, which is less than the " +
                              std::to_string(of) + "GiB it is said to have");
    if (container == 0) return tl::unexpected(std::string("0GiB is no memory"));
    if (container > of)
        return tl::unexpected(std::to_string(container) + "GiB is asked for and the card has " +
                              std::to_string(of) + "GiB");
    // No overflow: container ≤ of ≤ total_mib / 1024 + 1, and total_mib is far below 2^37 (128 PiB).
    return total_mib * container / of;
}

}  // namespace cgpu::request
