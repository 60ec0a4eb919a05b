#pragma once

#include "daemon/link/base/settings.hpp"
#include "daemon/link/instance/peers.hpp"
#include "daemon/link/socket/connection.hpp"

namespace cgpu::link {

/// Answers one process with the processes that its instance has on a GPU, by the pids that it sees.
void list_processes(Connection& connection, const wire::AskProcesses& ask, const model::Instance& instance,
                    Peers& peers, const Outside& outside);

}  // namespace cgpu::link
