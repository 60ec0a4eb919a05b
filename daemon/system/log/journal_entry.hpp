#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cgpu::system {

/// One entry of the journal, by its own protocol.
class JournalEntry {
  public:
    /// `priority`: one of syslog's.
    JournalEntry(std::string_view message, int priority);

    void add(std::string_view field, std::string_view value);
    /// A journal that accepts nothing is no reason to stop dividing GPUs, so a failure is ignored.
    void send();

    [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }

  private:
    std::vector<std::string> fields_;  ///< NAME=value
};

}  // namespace cgpu::system
