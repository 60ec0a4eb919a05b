#include "daemon/bus/job_object.hpp"

#include <utility>
#include <vector>

#include "daemon/bus/authority.hpp"
#include "daemon/bus/errors.hpp"
#include "daemon/bus/options.hpp"
#include "daemon/bus/paths.hpp"

namespace cgpu::bus {

JobObject::JobObject(sdbus::IConnection& connection, app::Upgrader& upgrader, upgrade::Flow::Status status)
    : AdaptorInterfaces(connection, path_of_job(status.id)), upgrader_(upgrader), status_(std::move(status)) {
    registerAdaptor();
}

JobObject::~JobObject() { unregisterAdaptor(); }

void JobObject::announce() { getObject().emitInterfacesAddedSignal(); }

void JobObject::announce_removal() { getObject().emitInterfacesRemovedSignal(); }

void JobObject::update(upgrade::Flow::Status status) {
    const auto before = std::exchange(status_, std::move(status));
    std::vector<compat::PropertyName> changed;
    if (before.step != status_.step) changed.emplace_back("State");
    if (before.done != status_.done || before.all != status_.all) changed.emplace_back("Progress");
    if (before.message != status_.message) changed.emplace_back("Message");
    if (before.result != status_.result) changed.emplace_back("Result");
    if (!changed.empty()) getObject().emitPropertiesChangedSignal(INTERFACE_NAME, changed);
}

void JobObject::Cancel(const OptionMap& options) {
    guarded("Cancel", [&] {
        take(may_change(caller_of(getObject())));
        const app::Options checked = take(read_options(options));
        take(upgrader_.cancel(status_.id, checked.dry_run));
    });
}

}  // namespace cgpu::bus
