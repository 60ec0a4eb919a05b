#pragma once

#include <functional>
#include <map>
#include <memory>

#include "daemon/link/pages/pages.hpp"
#include "daemon/link/socket/connection.hpp"

namespace cgpu::link {

/// The processes of one instance that compute or hold memory, from their first Hello (or, after a restart,
/// from the lease that an earlier daemon gave them) to their end. Connections come and go meanwhile.
class Peers {
  public:
    struct Peer {
        std::shared_ptr<Pages> pages;          ///< null until it has connected
        std::weak_ptr<Connection> connection;  ///< the latest of its fronts that compute
        app::WatchPtr exit;
        app::PidPlace place;  ///< empty until it is needed
    };
    using Map = std::map<model::Process, Peer, app::ProcessLess>;

    Peers(model::InstanceId id, const Outside& outside, std::function<void(const model::Process&)> ended);
    /// Tells the divider that the processes are gone.
    ~Peers();
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    [[nodiscard]] const Map& all() const { return peers_; }
    [[nodiscard]] const Peer* find(const model::Process& process) const;
    /// Its connection that can be written to now, or null.
    [[nodiscard]] std::shared_ptr<Connection> connection_of(const model::Process& process) const;

    /// Adds a process, and calls `ended` when it has ended.
    Peer& enter(const model::Process& process);
    /// Gives a process new pages. The divider is told; the contents of the old pages are dropped.
    void set_pages(const model::Process& process, std::shared_ptr<Pages> pages);
    void remove(const model::Process& process);
    /// Works for any process, whether or not it is one of these. Empty if it has ended.
    [[nodiscard]] app::PidPlace place_of(const model::Process& process);

  private:
    model::InstanceId id_;
    const Outside& outside_;
    std::function<void(const model::Process&)> ended_;
    Map peers_;
};

}  // namespace cgpu::link
