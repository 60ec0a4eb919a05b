#pragma once

#include <memory>

#include "client/node/job_watch.hpp"
#include "dbus/compat.hpp"

namespace cgpu::client {

/// A job of the daemon on the system bus. Throws sdbus::Error if the bus can't be asked for its signals.
class BusJobWatch final : public JobWatch {
  public:
    /// The connection must outlive this object, and have no loop of its own.
    BusJobWatch(sdbus::IConnection& connection, const std::string& path);

    Woke wait(int interrupt, std::optional<std::chrono::milliseconds> most) override;
    [[nodiscard]] std::optional<std::string> result() const override { return result_; }

  private:
    /// Whether a signal has arrived since the last call.
    bool heard();

    sdbus::IConnection& connection_;
    bool changed_ = false;
    std::optional<std::string> result_;
    // Declared after the members that their handlers write to, so that they are destroyed first.
    std::unique_ptr<sdbus::IProxy> job_;
    std::unique_ptr<sdbus::IProxy> manager_;
    std::unique_ptr<sdbus::IProxy> bus_;
};

}  // namespace cgpu::client
