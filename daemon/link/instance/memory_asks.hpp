#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "daemon/app/events/refused_allocations.hpp"
#include "daemon/link/base/settings.hpp"
#include "daemon/link/instance/notice_log.hpp"
#include "daemon/link/socket/connection.hpp"

namespace cgpu::link {

/// Requests and reports about memory of one instance's processes: passes asks to the leases, and answers to
/// the connection. What processes say is no longer their word from here on: bytes become whole granules, in
/// which everything behind this counts.
class MemoryAsks {
  public:
    /// All of these outlive it. `instance`: its current state.
    MemoryAsks(const model::Instance& instance, const Outside& outside, const Settings& settings,
               NoticeLog& log, app::RepeatedByUser& refusals);

    /// Every ask is answered, sooner or later, while the connection lasts, but Topic::refused: a program may
    /// be refused faster than its front reads answers.
    void ask(Connection& connection, const wire::Ask& ask);
    /// A process returns a part of its lease. False: no such process or GPU can have a lease.
    [[nodiscard]] bool give(const Connection& connection, const wire::Give& give);

  private:
    void ask_leases(Connection& connection, const wire::Ask& ask, app::LeaseAsk::What what);
    void refused(const Connection& connection, const wire::Ask& ask);
    void answer(Connection& connection, const wire::Ask& ask, wire::Why why);
    [[nodiscard]] app::LeaseKey lease_key(const Connection& connection, std::uint32_t gpu) const;
    /// Which share of the GPU's time the instance has had: see Outside. It is looked up at most ten times a
    /// second, because that takes the slicer's lock, and processes may ask without pause.
    std::optional<double> share(std::uint32_t gpu);

    struct Share {
        app::Nanos looked_up_at = 0;
        std::optional<double> value;
    };

    const model::Instance& instance_;
    const Outside& outside_;
    const Settings& settings_;
    NoticeLog& log_;
    std::array<std::optional<Share>, wire::kMaxGpus> shares_;
    app::RefusedAllocations refusals_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);  ///< answers may come after this object's end
};

}  // namespace cgpu::link
