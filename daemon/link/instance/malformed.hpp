#pragma once

#include <string>

#include "daemon/link/instance/notice_log.hpp"
#include "daemon/link/socket/connection.hpp"

namespace cgpu::link {

/// Closes a connection that sent something that no front sends. `what`: with its article, for the log and the
/// process.
inline void refuse_malformed(Connection& connection, NoticeLog& log, const std::string& what) {
    log.write(connection.process().pid, "sent " + what + "; its connection was closed");
    connection.refuse(wire::Why::bad_request, "cgpud got " + what + ".");
}

}  // namespace cgpu::link
