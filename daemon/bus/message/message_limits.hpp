#pragma once

#include <cstddef>

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

    /// Applies to all calls over this connection, which outlives it. Throws sdbus::Error.
    explicit MessageLimits(sdbus::IConnection& connection);
    ~MessageLimits();
    MessageLimits(const MessageLimits&) = delete;
    MessageLimits& operator=(const MessageLimits&) = delete;

  private:
    sd_bus_slot* slot_ = nullptr;
};

}  // namespace cgpu::bus
