#pragma once

#include <filesystem>
#include <span>

#include "daemon/link/base/settings.hpp"
#include "daemon/link/instance/driver_files.hpp"
#include "daemon/link/instance/notice_log.hpp"
#include "daemon/link/socket/connection.hpp"

namespace cgpu::link {

/// How the driver's libraries come to the daemon, and from it to the instance's processes.
class DriverExchange {
  public:
    /// All of these outlive it. `instance`: as it is now; `folder`: see DriverFiles.
    DriverExchange(const model::Instance& instance, const std::filesystem::path& folder,
                   const Outside& outside, NoticeLog& log);

    /// A connection wants to hand the libraries over. Before the program starts, all that descends from the
    /// instance's process makes its container or its mounts. That brings the libraries before it lets the
    /// program start; whoever comes later is refused.
    void expect(Connection& connection);
    /// What such a connection sends then.
    void take(Connection& connection, std::span<const std::byte> packet);
    /// A process wants to have them.
    void send(Connection& connection);
    /// The instance is gone: they aren't kept for a later daemon any more.
    void forget() { files_.forget(); }

  private:
    const model::Instance& instance_;
    const Outside& outside_;
    NoticeLog& log_;
    DriverFiles files_;
};

}  // namespace cgpu::link
