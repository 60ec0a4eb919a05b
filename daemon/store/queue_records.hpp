#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/app/queue/queue_store.hpp"

namespace cgpu::store {

/// Each request that waits, in `<runtime_dir>/queued/ID.json`, which lives as long as the boot does. A change
/// costs the same however many wait.
class QueueRecords final : public app::QueueStore {
  public:
    /// Makes the folder.
    explicit QueueRecords(std::filesystem::path folder);

    /// Those of this boot that an earlier daemon wrote. What isn't whole, is of another version, or says what
    /// its variables don't, is removed.
    [[nodiscard]] std::vector<app::QueuedRequest> left(const std::string& boot_id) const;

    void add(const app::QueuedRequest& request) override;
    void remove(const model::InstanceId& id) override;

  private:
    [[nodiscard]] std::filesystem::path path_of(const model::InstanceId& id) const;

    std::filesystem::path folder_;
    bool warned_ = false;
};

}  // namespace cgpu::store
