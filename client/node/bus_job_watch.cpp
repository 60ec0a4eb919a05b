#include "client/node/bus_job_watch.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
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

}  // namespace

BusJobWatch::BusJobWatch(sdbus::IConnection& connection, const std::string& path)
    : connection_(connection),
      job_(sdbus::createProxy(connection, compat::ServiceName(bus_names::kService), sdbus::ObjectPath(path))),
      manager_(sdbus::createProxy(connection, compat::ServiceName(bus_names::kService),
                                  sdbus::ObjectPath(bus_names::kManager))),
      bus_(sdbus::createProxy(connection, compat::ServiceName(bus_names::kBus),
                              sdbus::ObjectPath(bus_names::kBusPath))) {
    job_->uponSignal("PropertiesChanged")
        .onInterface(bus_names::kProperties)
        .call([this](const std::string&, const std::map<std::string, sdbus::Variant>&,
                     const std::vector<std::string>&) { changed_ = true; });
    manager_->uponSignal("JobRemoved")
        .onInterface(ManagerProxy::INTERFACE_NAME)
        .call([this, path](const std::uint64_t&, const sdbus::ObjectPath& job, const std::string& how) {
            if (job != path) return;
            result_ = how;
            changed_ = true;
        });
    // A daemon that was killed sends nothing; the next one resumes the job.
    bus_->uponSignal("NameOwnerChanged")
        .onInterface(bus_names::kBus)
        .call([this](const std::string& name, const std::string&, const std::string&) {
            if (name == bus_names::kService) changed_ = true;
        });
    for (auto* proxy : {job_.get(), manager_.get(), bus_.get()}) compat::finish_registration(*proxy);
}

bool BusJobWatch::heard() {
    while (compat::process_one(connection_)) {
    }
    return std::exchange(changed_, false);
}

JobWatch::Woke BusJobWatch::wait(int interrupt, std::optional<milliseconds> most) {
    const auto end = Clock::now() + most.value_or(milliseconds(0));
    for (;;) {
        std::array files{pollfd{interrupt, POLLIN, 0}, pollfd{-1, 0, 0}};
        try {
            if (heard()) return Woke::changed;
            const auto wanted = connection_.getEventLoopPollData();
            files[1] = {wanted.fd, wanted.events, 0};
        } catch (const sdbus::Error&) {
            // The bus itself is gone: the next read of the job reports it.
            if (!most) return Woke::changed;
        }
        auto pause = kLongest;
        if (most) pause = std::min(pause, std::chrono::ceil<milliseconds>(end - Clock::now()));
        if (pause <= milliseconds(0)) return Woke::timeout;
        ::poll(files.data(), files.size(), static_cast<int>(pause.count()));
        if (files[0].revents != 0) return Woke::interrupted;
    }
}

}  // namespace cgpu::client
