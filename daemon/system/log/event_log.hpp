#pragma once

#include <memory>

#include "daemon/app/events/events.hpp"
#include "daemon/system/log/instance_names.hpp"
#include "daemon/system/log/journal_entry.hpp"

namespace cgpu::system {

/// The entry of an event, with its fields as cgpud(8) lists them.
[[nodiscard]] JournalEntry entry_of(const app::Event& event, const app::Stamp& stamp);

/// Writes each event as one entry of the journal or, without a journal, as one line of the log. It also keeps
/// the names of the instances, for all other lines about them.
class EventLog final : public app::EventOutlet {
  public:
    void happened(const app::Event& event, const app::Stamp& stamp) override;
    void instance_known(const model::Instance& instance) override;
    void instance_forgotten(const model::InstanceId& id) override;

    [[nodiscard]] std::shared_ptr<const InstanceNames> names() const { return names_; }

  private:
    std::shared_ptr<InstanceNames> names_ = std::make_shared<InstanceNames>();
};

}  // namespace cgpu::system
