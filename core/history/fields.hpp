#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/model/uuid.hpp"

/// Fields of fixed width in a file, one after the other: numbers with the lowest byte first, texts padded
/// with NULs. The caller knows that they fit.
namespace cgpu::history {

class Writer {
  public:
    explicit Writer(std::span<std::byte> bytes) : bytes_(bytes) {}

    Writer& at(std::size_t place) {
        place_ = place;
        return *this;
    }
    template <class Number>
    void number(Number value) {
        static_assert(std::is_unsigned_v<Number>);
        for (std::size_t i = 0; i < sizeof(Number); ++i)
            bytes_[place_++] = static_cast<std::byte>((value >> (8 * i)) & 0xFFU);
    }
    void raw(const model::Uuid::Raw& raw) {
        for (const std::uint8_t byte : raw) bytes_[place_++] = static_cast<std::byte>(byte);
    }
    void text(std::string_view text) {
        for (const char letter : text) bytes_[place_++] = static_cast<std::byte>(letter);
    }

  private:
    std::span<std::byte> bytes_;
    std::size_t place_ = 0;
};

class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    Reader& at(std::size_t place) {
        place_ = place;
        return *this;
    }
    template <class Number>
    void number(Number& value) {
        static_assert(std::is_unsigned_v<Number>);
        value = 0;
        for (std::size_t i = 0; i < sizeof(Number); ++i)
            value |= static_cast<Number>(static_cast<Number>(bytes_[place_++]) << (8 * i));
    }
    void raw(model::Uuid::Raw& raw) {
        for (std::uint8_t& byte : raw) byte = static_cast<std::uint8_t>(bytes_[place_++]);
    }
    [[nodiscard]] std::string text(std::size_t most) const {
        const auto field = bytes_.subspan(place_, most);
        std::string text;
        for (const std::byte byte : field) {
            if (byte == std::byte{0}) break;
            text += static_cast<char>(byte);
        }
        return text;
    }

  private:
    std::span<const std::byte> bytes_;
    std::size_t place_ = 0;
};

}  // namespace cgpu::history
