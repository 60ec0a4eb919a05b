#pragma once

#include <span>
#include <string>

#include "core/history/record.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Keeps the newest records of what instances had of the GPUs.
class HistoryStore {
  public:
    virtual ~HistoryStore() = default;
    /// Gives the records their numbers, and writes them. A program that dies after this loses none of them; a
    /// machine may, until the next sync(). A failure is logged, and loses these records.
    virtual void append(std::span<history::Record> records) = 0;
    /// What was appended is on the disk when this returns.
    virtual void sync() = 0;
    /// A descriptor that reads the whole file, for the caller to close. Refused (unsupported): no history is
    /// kept; (storage): the file can't be opened.
    virtual Result<int> open_for_reading() = 0;
};

}  // namespace cgpu::app
