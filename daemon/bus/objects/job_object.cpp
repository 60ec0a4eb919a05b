#include "daemon/bus/objects/job_object.hpp"

#include <utility>
#include <vector>

#include "daemon/bus/authority/permitted.hpp"
#include "daemon/bus/message/paths.hpp"

namespace cgpu::bus {

JobObject::JobObject(sdbus::IConnection& connection, Authority& authority, app::Upgrader& upgrader,
                     upgrade::Flow::Status status)
    : AdaptorInterfaces(connection, path_of_job(status.id)),
      authority_(authority),
      upgrader_(upgrader),
      status_(std::move(status)) {
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

void JobObject::Cancel(sdbus::Result<>&& result, OptionMap options) {
    when_permitted(authority_, Action::upgrade_module, getObject(), {"Cancel", is_dry_run(options)},
                   std::move(result), [&upgrader = upgrader_, id = status_.id, options](const app::Who& who) {
                       const app::Options checked = take(read_options(options));
                       take(upgrader.cancel(id, checked.dry_run, who));
                   });
}

}  // namespace cgpu::bus
