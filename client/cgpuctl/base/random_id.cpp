#include "client/cgpuctl/base/random_id.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/random.h>

namespace cgpu::cgpuctl {

client::Result<std::string> random_id() {
    std::array<unsigned char, 16> bits{};
    if (getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
        return client::fail(
            client::ClientError::Kind::failed,
            "a random id: " + std::string(std::strerror(errno)) + ". Try: run the command again.");
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string id;
    for (const unsigned char byte : bits) {
        id += kHex[byte >> 4U];
        id += kHex[byte & 0xfU];
    }
    return id;
}

}  // namespace cgpu::cgpuctl
