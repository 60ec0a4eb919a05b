#pragma once

#include "core/upgrade/job.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// The durable state of upgrades: it is on disk before anyone is told.
class RecordStore {
  public:
    virtual ~RecordStore() = default;
    /// Refused (storage) as by Store::save().
    virtual Result<void> save(const upgrade::Record& record) = 0;
};

}  // namespace cgpu::app
