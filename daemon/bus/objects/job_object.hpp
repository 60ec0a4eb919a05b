#pragma once

#include <string>

#include "daemon/app/upgrade/upgrader.hpp"
#include "daemon/bus/authority/authority.hpp"
#include "daemon/bus/message/options.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/job_adaptor.hpp"

namespace cgpu::bus {

/// org.cgpu1.Job on the bus; its properties come from a view, as those of GpuObject do.
class JobObject final : public sdbus::AdaptorInterfaces<org::cgpu1::Job_adaptor> {
  public:
    JobObject(sdbus::IConnection& connection, Authority& authority, app::Upgrader& upgrader,
              upgrade::Flow::Status status);
    ~JobObject();
    JobObject(const JobObject&) = delete;
    JobObject& operator=(const JobObject&) = delete;

    [[nodiscard]] std::uint64_t id() const { return status_.id; }
    void announce();
    /// Call just before the object is removed.
    void announce_removal();
    /// Emits PropertiesChanged with the differences, if there are any.
    void update(upgrade::Flow::Status status);

  private:
    void Cancel(sdbus::Result<>&& result, OptionMap options) override;

    std::uint64_t Id() override { return status_.id; }
    std::string Kind() override { return std::string(to_string(status_.kind)); }
    std::string From() override { return to_string(status_.from); }
    std::string Target() override { return to_string(status_.to); }
    std::string State() override { return std::string(to_string(status_.step)); }
    sdbus::Struct<std::uint32_t, std::uint32_t> Progress() override {
        return {static_cast<std::uint32_t>(status_.done), static_cast<std::uint32_t>(status_.all)};
    }
    std::string Message() override { return status_.message; }
    std::string Result() override {
        return status_.result ? std::string(to_string(*status_.result)) : std::string();
    }

    Authority& authority_;
    app::Upgrader& upgrader_;
    upgrade::Flow::Status status_;
};

}  // namespace cgpu::bus
