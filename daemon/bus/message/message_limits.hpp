#pragma once

#include <cstddef>
#include <optional>

#include "dbus/compat.hpp"

struct sd_bus;
struct sd_bus_message;
struct sd_bus_slot;

namespace cgpu::bus {

/// Refuses method calls that are too long before any part of them is unpacked or copied: the bus lets every
/// user send messages of 32 MiB, and all processing of one takes the daemon's time.
class MessageLimits {
  public:
    static constexpr std::size_t kMostText = 64 << 10;  ///< bytes of all strings together
    static constexpr std::size_t kMostValues = 4096;    ///< strings, numbers and containers

    /// What a message has in it.
    struct Size {
        std::size_t text = 0;  ///< bytes
        std::size_t values = 0;
    };
    /// Reads the message to its end; rewind it afterwards. Empty: it has more than that, or is malformed.
    [[nodiscard]] static std::optional<Size> size_of(sd_bus_message* message);

    /// Applies to all calls over this connection, which outlives it. Throws sdbus::Error.
    explicit MessageLimits(sdbus::IConnection& connection);
    ~MessageLimits();
    MessageLimits(const MessageLimits&) = delete;
    MessageLimits& operator=(const MessageLimits&) = delete;

  private:
    sd_bus_slot* slot_ = nullptr;
};

}  // namespace cgpu::bus
