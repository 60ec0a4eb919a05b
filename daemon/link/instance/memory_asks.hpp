#pragma once

#include <cstdint>
#include <memory>

#include "daemon/link/base/settings.hpp"
#include "daemon/link/instance/notice_log.hpp"
#include "daemon/link/socket/connection.hpp"

namespace cgpu::link {

/// What the processes of one instance ask about memory, and say of it: asks go to the leases, answers back to
/// the connection.
class MemoryAsks {
  public:
    /// All of these outlive it. `instance`: as it is now.
    MemoryAsks(const model::Instance& instance, const Outside& outside, const Settings& settings,
               NoticeLog& log);

    /// Always answered, sooner or later, while the connection lasts.
    void ask(const std::shared_ptr<Connection>& connection, const wire::Ask& ask);
    /// A process gives back a part of its lease. False: no such process or GPU can have one.
    [[nodiscard]] bool give(const Connection& connection, const wire::Give& give);

  private:
    void ask_leases(const std::shared_ptr<Connection>& connection, const wire::Ask& ask,
                    app::LeaseAsk::What what);
    void refused(const Connection& connection, const wire::Ask& ask);
    void answer(Connection& connection, const wire::Ask& ask, wire::Why why);
    [[nodiscard]] app::LeaseKey lease_key(const Connection& connection, std::uint32_t gpu) const;

    const model::Instance& instance_;
    const Outside& outside_;
    const Settings& settings_;
    NoticeLog& log_;
    NoticeLog refusals_;  ///< of memory: a program that tries without end leaves other lines their place
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< answers may come after our end
};

}  // namespace cgpu::link
