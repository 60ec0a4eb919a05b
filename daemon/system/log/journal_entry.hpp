#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/app/ports/log.hpp"

namespace cgpu::system {

/// One entry of the journal, by its own protocol.
class JournalEntry {
  public:
    JournalEntry(std::string_view message, log::Level level);

    void add(std::string_view field, std::string_view value);
    /// CGPU_INSTANCE=, CGPU_NAME=, CGPU_GPU=, CGPU_GPU_UUID= and CGPU_PID=, as far as there are any.
    void add(const log::Subject& about);
    /// A journal that accepts nothing is no reason to stop dividing GPUs, so a failure is ignored.
    void send();

    [[nodiscard]] const std::vector<std::string>& fields() const { return fields_; }

  private:
    std::vector<std::string> fields_;  ///< NAME=value
};

}  // namespace cgpu::system
