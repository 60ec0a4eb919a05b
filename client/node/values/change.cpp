#include "client/node/values/change.hpp"

#include <charconv>
#include <string_view>

namespace cgpu::client {

std::optional<std::size_t> take_change_number(ClientError& refusal, std::size_t count) {
    constexpr std::string_view kChange = "change ";
    const std::string_view text = refusal.text;
    const auto colon = text.find(": ");
    if (!text.starts_with(kChange) || colon == std::string_view::npos) return std::nullopt;
    std::size_t number = 0;
    const auto* last = text.data() + colon;
    const auto read = std::from_chars(text.data() + kChange.size(), last, number);
    if (read.ec != std::errc() || read.ptr != last || number == 0 || number > count) return std::nullopt;
    refusal.text.erase(0, colon + 2);
    return number - 1;
}

}  // namespace cgpu::client
