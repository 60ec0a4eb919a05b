#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/history/record.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// Keeps the newest records of what instances had of the GPUs, or the sums of days.
class HistoryStore {
  public:
    virtual ~HistoryStore() = default;
    /// What was found when it was opened, in the order of their numbers; the second call has nothing.
    virtual std::vector<history::Record> take_found() = 0;
    /// Gives numbers to records that have none, and writes all: one that has a number in the place of the
    /// former one, if that is kept still. A program that dies after this loses none of them; a
    /// machine may, until the next sync(). A failure is logged, and loses these records.
    virtual void append(std::span<history::Record> records) = 0;
    /// What was appended is on the disk when this returns.
    virtual void sync() = 0;
    /// A descriptor that reads the whole file, for the caller to close. Refused (unsupported): no history is
    /// kept; (storage): the file can't be opened.
    virtual Result<int> open_for_reading() = 0;
};

}  // namespace cgpu::app
