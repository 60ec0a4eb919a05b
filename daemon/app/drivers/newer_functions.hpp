#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "daemon/app/ports/driver_watch.hpp"

namespace cgpu::app {

/// The functions of drivers that this release doesn't know. Calls of them pass, and no limit holds for what
/// they do, so users are told: once for each driver in the log, and all of them together on the bus. They are
/// those of the drivers that instances had since cgpud's start.
class NewerFunctions final : public DriverWatch {
  public:
    /// Called with all names, sorted, when there are more.
    using Publish = std::function<void(const std::vector<std::string>& names)>;
    explicit NewerFunctions(Publish publish) : publish_(std::move(publish)) {}

    [[nodiscard]] bool knows(const DriverFileId& file) const override { return seen_.contains(file); }
    void was_read(const DriverFileId& file, const std::string& path,
                  const std::vector<std::string>& newer) override;

    [[nodiscard]] std::vector<std::string> names() const { return {names_.begin(), names_.end()}; }

  private:
    Publish publish_;
    std::set<DriverFileId> seen_;
    std::set<std::string> names_;
};

}  // namespace cgpu::app
