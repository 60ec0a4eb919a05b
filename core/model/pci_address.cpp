#include "core/model/pci_address.hpp"

#include <charconv>

namespace cgpu::model {
namespace {

constexpr std::size_t kDomainDigits = 8;
constexpr std::size_t kBusDigits = 2;

std::optional<std::uint32_t> hex(std::string_view text, std::size_t most) {
    std::uint32_t value = 0;
    const char* const last = text.data() + text.size();
    if (text.empty() || text.size() > most) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), last, value, 16);
    if (error != std::errc{} || end != last) return std::nullopt;
    return value;
}

void put(std::string& text, std::uint32_t value, std::size_t digits) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    for (std::size_t i = digits; i > 0; --i) text += kHex[(value >> (4 * (i - 1))) & 0xfU];
}

}  // namespace

std::optional<PciAddress> PciAddress::parse(std::string_view text) {
    const auto dot = text.rfind('.');
    const bool has_function = dot != std::string_view::npos;
    // A card's other functions are its sound and USB.
    if (has_function && text.substr(dot) != ".0") return std::nullopt;
    text = text.substr(0, dot);
    const auto second = text.rfind(':');
    if (second == std::string_view::npos || second == 0) return std::nullopt;
    const auto first = text.rfind(':', second - 1);
    const bool has_domain = first != std::string_view::npos;
    if (!has_domain && !has_function) return std::nullopt;
    const auto domain = has_domain ? hex(text.substr(0, first), kDomainDigits) : std::uint32_t{0};
    const auto bus_at = has_domain ? first + 1 : 0;
    const auto bus = hex(text.substr(bus_at, second - bus_at), kBusDigits);
    const auto device = hex(text.substr(second + 1), kBusDigits);
    if (!domain || !bus || !device) return std::nullopt;
    return PciAddress{*domain, *bus, *device};
}

std::string PciAddress::to_string() const {
    std::string text;
    put(text, domain, kDomainDigits);
    text += ':';
    put(text, bus, kBusDigits);
    text += ':';
    put(text, device, kBusDigits);
    return text + ".0";
}

}  // namespace cgpu::model
