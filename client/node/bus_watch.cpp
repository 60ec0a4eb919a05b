#include "client/node/bus_watch.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "client/node/bus_connection.hpp"
#include "dbus/names.hpp"

namespace cgpu::client {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// poll() takes an int, so a longer wait is divided.
constexpr milliseconds kLongest{60'000};

std::unique_ptr<sdbus::IProxy> signals_of(sdbus::IConnection& connection, const char* service,
                                          const std::string& path) {
    return sdbus::createProxy(connection, compat::ServiceName(service), sdbus::ObjectPath(path));
}

/// A daemon that was killed sends nothing; the next one resumes the jobs, and knows which instances live.
std::unique_ptr<sdbus::IProxy> owner_of_name(BusSleep& sleep) {
    auto bus = signals_of(sleep.connection(), bus_names::kBus, bus_names::kBusPath);
    bus->uponSignal("NameOwnerChanged")
        .onInterface(bus_names::kBus)
        .call([&sleep](const std::string& name, const std::string&, const std::string&) {
            if (name == bus_names::kService) sleep.changed = true;
        });
    compat::finish_registration(*bus);
    return bus;
}

}  // namespace

BusJobWatch::BusJobWatch(sdbus::IConnection& connection, const std::string& path)
    : sleep_(connection),
      job_(signals_of(connection, bus_names::kService, path)),
      manager_(signals_of(connection, bus_names::kService, bus_names::kManager)),
      bus_(owner_of_name(sleep_)) {
    job_->uponSignal("PropertiesChanged")
        .onInterface(bus_names::kProperties)
        .call([this](const std::string&, const std::map<std::string, sdbus::Variant>&,
                     const std::vector<std::string>&) { sleep_.changed = true; });
    manager_->uponSignal("JobRemoved")
        .onInterface(ManagerProxy::INTERFACE_NAME)
        .call([this, path](const std::uint64_t&, const sdbus::ObjectPath& job, const std::string& how) {
            if (job != path) return;
            result_ = how;
            sleep_.changed = true;
        });
    for (auto* proxy : {job_.get(), manager_.get()}) compat::finish_registration(*proxy);
}

BusInstanceWatch::BusInstanceWatch(sdbus::IConnection& connection)
    : sleep_(connection),
      manager_(signals_of(connection, bus_names::kService, bus_names::kManager)),
      bus_(owner_of_name(sleep_)) {
    manager_->uponSignal("InterfacesRemoved")
        .onInterface(bus_names::kObjectManager)
        .call([this](const sdbus::ObjectPath& path, const std::vector<std::string>&) {
            if (std::string_view(path).starts_with(bus_names::kInstances)) sleep_.changed = true;
        });
    compat::finish_registration(*manager_);
}

bool BusSleep::heard() {
    while (compat::process_one(connection_)) {
    }
    return std::exchange(changed, false);
}

Watch::Woke BusSleep::wait(int interrupt, std::optional<milliseconds> most) {
    const auto end = Clock::now() + most.value_or(milliseconds(0));
    for (;;) {
        std::array files{pollfd{interrupt, POLLIN, 0}, pollfd{-1, 0, 0}};
        try {
            if (heard()) return Watch::Woke::changed;
            const auto wanted = connection_.getEventLoopPollData();
            files[1] = {wanted.fd, wanted.events, 0};
        } catch (const sdbus::Error&) {
            // The bus itself is gone: the next read reports it.
            if (!most) return Watch::Woke::changed;
        }
        auto pause = kLongest;
        if (most) pause = std::min(pause, std::chrono::ceil<milliseconds>(end - Clock::now()));
        if (pause <= milliseconds(0)) return Watch::Woke::timeout;
        ::poll(files.data(), files.size(), static_cast<int>(pause.count()));
        if (files[0].revents != 0) return Watch::Woke::interrupted;
    }
}

}  // namespace cgpu::client
