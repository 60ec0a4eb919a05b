#pragma once

#include "daemon/app/events/events.hpp"
#include "daemon/system/log/journal_entry.hpp"

namespace cgpu::system {

/// The entry of an event, with its fields as cgpud(8) lists them.
[[nodiscard]] JournalEntry entry_of(const app::Event& event, const app::Stamp& stamp);

/// Writes each event as one entry of the journal or, without a journal, as one line of the log.
class EventLog final : public app::EventOutlet {
  public:
    void happened(const app::Event& event, const app::Stamp& stamp) override;
};

}  // namespace cgpu::system
