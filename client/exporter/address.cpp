#include "client/exporter/address.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/model/quote.hpp"

namespace cgpu::exporter {
namespace {

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc{} && end == text.data() + text.size();
}

bool is_host(std::string_view text) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    if (text.starts_with('[') && text.ends_with(']'))
        return inet_pton(AF_INET6, std::string(text.substr(1, text.size() - 2)).c_str(), address.data()) == 1;
    return inet_pton(AF_INET, std::string(text).c_str(), address.data()) == 1;
}

}  // namespace

client::Result<void> check_address(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon != std::string::npos && is_host(std::string_view(address).substr(0, colon)) &&
        is_port(std::string_view(address).substr(colon + 1)))
        return {};
    return client::fail(client::ClientError::Kind::usage,
                        "cgpu-exporter --listen " + model::quote(address) +
                            ": it is not an address with a port. Try: use 127.0.0.1:9835, or [::1]:9835.");
}

}  // namespace cgpu::exporter
