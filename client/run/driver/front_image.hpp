#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "client/node/values/client_error.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {

/// A private copy of a file in memory. It is a mapping, so only the pages that are written take memory and
/// time.
class Image {
  public:
    /// Empty if that fails.
    static Image of(const Descriptor& file);
    Image() = default;
    Image(Image&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    Image& operator=(Image&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Image();

    [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::span<std::byte> bytes_;
};

/// Builds the front library whose export table matches the driver's file: the front (a path on the host) with
/// the exports of the driver (open for reading, and called `name`).
[[nodiscard]] Result<Image> fit_front(const std::string& front, const Descriptor& driver,
                                      const std::string& name);

}  // namespace cgpu::client
