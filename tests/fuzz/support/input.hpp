#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cgpu::fuzz {

/// Takes what libFuzzer generated, from the first byte to the last, so that a seed can be read and written by
/// hand.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

    [[nodiscard]] bool empty() const { return left_.empty(); }
    /// The next byte; 0 at the end.
    std::uint8_t byte() {
        if (left_.empty()) return 0;
        const auto first = left_.front();
        left_ = left_.subspan(1);
        return first;
    }
    /// A number of two bytes, the lower one first.
    std::uint16_t number() {
        const unsigned low = byte();
        return static_cast<std::uint16_t>(low | static_cast<unsigned>(byte()) << 8U);
    }
    [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(left_); }
    [[nodiscard]] std::string_view text() const {
        return {reinterpret_cast<const char*>(left_.data()), left_.size()};
    }

  private:
    std::span<const std::uint8_t> left_;
};

/// Returns the part of the text before the separator, and removes both from the text.
inline std::string_view take_until(std::string_view& text, std::string_view separator) {
    const auto end = text.find(separator);
    const auto part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
    return part;
}

}  // namespace cgpu::fuzz
