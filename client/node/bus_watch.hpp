#pragma once

#include <memory>

#include "client/node/watch.hpp"
#include "dbus/compat.hpp"

namespace cgpu::client {

/// Sleeps on a connection of the system bus until a handler of a signal has set `changed`.
class BusSleep {
  public:
    /// The connection must outlive this object, and have no loop of its own.
    explicit BusSleep(sdbus::IConnection& connection) : connection_(connection) {}

    bool changed = false;
    Watch::Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most);
    [[nodiscard]] sdbus::IConnection& connection() { return connection_; }

  private:
    /// Whether a signal has arrived since the last call.
    bool heard();

    sdbus::IConnection& connection_;
};

/// A job of the daemon on the system bus. Throws sdbus::Error if the bus can't be asked for its signals.
class BusJobWatch final : public JobWatch {
  public:
    /// As BusSleep.
    BusJobWatch(sdbus::IConnection& connection, const std::string& path);

    Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most) override {
        return sleep_.wait(interrupt, most);
    }
    [[nodiscard]] std::optional<std::string> result() const override { return result_; }

  private:
    BusSleep sleep_;
    std::optional<std::string> result_;
    // Declared after the members that their handlers write to, so that they are destroyed first.
    std::unique_ptr<sdbus::IProxy> job_;
    std::unique_ptr<sdbus::IProxy> manager_;
    std::unique_ptr<sdbus::IProxy> bus_;
};

/// The ends of instances. Throws sdbus::Error if the bus can't be asked for its signals.
class BusInstanceWatch final : public Watch {
  public:
    /// As BusSleep.
    explicit BusInstanceWatch(sdbus::IConnection& connection);

    Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most) override {
        return sleep_.wait(interrupt, most);
    }

  private:
    BusSleep sleep_;
    // As in BusJobWatch.
    std::unique_ptr<sdbus::IProxy> manager_;
    std::unique_ptr<sdbus::IProxy> bus_;
};

}  // namespace cgpu::client
