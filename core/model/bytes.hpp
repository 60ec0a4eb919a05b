#pragma once

#include <compare>
#include <cstdint>

namespace cgpu::model {

/// An amount of GPU memory in bytes. Not constructible by accident from a number of MiB.
class Bytes {
  public:
    static constexpr std::uint64_t kPerMib = std::uint64_t{1} << 20;
    static constexpr std::uint64_t kPerGib = std::uint64_t{1} << 30;

    constexpr Bytes() = default;
    constexpr explicit Bytes(std::uint64_t count) : count_(count) {}
    static constexpr Bytes from_mib(std::uint64_t mib) { return Bytes(mib * kPerMib); }
    static constexpr Bytes from_gib(std::uint64_t gib) { return Bytes(gib * kPerGib); }

    constexpr std::uint64_t count() const { return count_; }
    /// Whole MiB, rounded down.
    constexpr std::uint64_t mib() const { return count_ / kPerMib; }

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
    /// Stops at zero: an amount of memory is never negative.
    friend constexpr Bytes operator-(Bytes a, Bytes b) {
        return Bytes(a.count_ > b.count_ ? a.count_ - b.count_ : 0);
    }
    constexpr Bytes& operator+=(Bytes other) { return *this = *this + other; }

  private:
    std::uint64_t count_ = 0;
};

}  // namespace cgpu::model
