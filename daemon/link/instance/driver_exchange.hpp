#pragma once

#include <filesystem>
#include <memory>

#include "daemon/link/base/settings.hpp"
#include "daemon/link/driver/driver_files.hpp"
#include "daemon/link/driver/file_intake.hpp"
#include "daemon/link/instance/notice_log.hpp"
#include "daemon/link/socket/connection.hpp"

namespace cgpu::link {

/// Passes the driver's libraries to the daemon, and from it to the instance's processes.
class DriverExchange {
  public:
    /// All of these outlive it. `instance`: its current state; `folder`: see DriverFiles; `patience`: for a
    /// process that hands over.
    DriverExchange(const model::Instance& instance, const std::filesystem::path& folder,
                   const Outside& outside, app::Nanos patience, NoticeLog& log);

    /// A connection wants to hand over the libraries. Before the program starts, all descendants of the
    /// instance's process belong to the making of its container or its mounts. These hand over the libraries
    /// before they start the program; a later attempt is refused.
    void expect(const std::shared_ptr<Connection>& connection);
    /// A process requests the libraries.
    void send(Connection& connection);
    /// The instance has ended: the libraries are no longer kept for a later daemon.
    void forget() { files_.forget(); }

  private:
    void take(Connection& connection, FileIntake::Came came);

    const model::Instance& instance_;
    const Outside& outside_;
    app::Nanos patience_;
    NoticeLog& log_;
    DriverFiles files_;
    std::unique_ptr<FileIntake> intake_;  ///< of the process that handed over last
};

}  // namespace cgpu::link
