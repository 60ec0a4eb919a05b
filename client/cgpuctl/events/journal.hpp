#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "client/cgpuctl/events/event.hpp"
#include "client/node/values/client_error.hpp"

struct sd_journal;

namespace cgpu::cgpuctl {

/// The events that cgpud's unit has written to this machine's journal, the oldest first.
class Journal {
  public:
    /// `type`: only events of it; empty: all. Error: there is no journal, or the caller may not read it.
    [[nodiscard]] static client::Result<Journal> open(const std::string& type);

    /// next() continues with the first event at or after this time (microseconds since 1970).
    client::Result<void> begin_at(std::uint64_t time_us);
    /// next() continues with the first of the last `count` events that match.
    client::Result<void> begin_with_last(std::size_t count, const EventFilter& filter);
    /// The next event; empty: there is none yet.
    client::Result<std::optional<Event>> next();
    /// Waits until there may be another.
    client::Result<void> wait();

  private:
    struct Close {
        void operator()(sd_journal* journal) const;
    };
    explicit Journal(sd_journal* journal) : journal_(journal) {}
    [[nodiscard]] std::optional<Event> event_here() const;

    std::unique_ptr<sd_journal, Close> journal_;
};

}  // namespace cgpu::cgpuctl
