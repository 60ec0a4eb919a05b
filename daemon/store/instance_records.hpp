#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::store {

/// A second copy of each instance that has a process, in `<runtime_dir>/admitted/ID.json`, which lives as
/// long as the boot does. state.json decides; these are for instances that it doesn't have though they run:
/// because it is that of before its last change, or because another one was put in its place.
///
/// They are written after the state is saved, and needn't be synced: without the boot their instances don't
/// live. One that can't be written is logged, and missed only then.
class InstanceRecords final : public app::NodeFollower {
  public:
    /// Makes the folder.
    explicit InstanceRecords(std::filesystem::path folder);

    /// Those of this boot that an earlier daemon wrote, by their ids. A record that isn't whole, or is of
    /// another version, is left out.
    [[nodiscard]] std::vector<model::InstanceRecord> left(const std::string& boot_id) const;
    /// Removes the records of instances that neither the node of the last update nor `kept` has.
    void drop_rest(const std::vector<model::InstanceRecord>& kept);

    void update(const model::Node& node) override;

  private:
    [[nodiscard]] std::filesystem::path path_of(const model::InstanceId& id) const;
    bool write(const model::InstanceRecord& record);

    std::filesystem::path folder_;
    model::Instances written_;
    bool warned_ = false;
};

}  // namespace cgpu::store
