#include "client/node/enter_scope.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "core/model/printable.hpp"
#include "dbus/names.hpp"
#include "files/read.hpp"

namespace cgpu::client {
namespace {

constexpr std::chrono::seconds kMovingTakes{5};
constexpr std::chrono::milliseconds kLookEvery{2};

using Property = sdbus::Struct<std::string, sdbus::Variant>;
using Auxiliary = sdbus::Struct<std::string, std::vector<Property>>;

bool is_in(const std::string& unit) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    return files::read_text("/proc/self/cgroup", kMost).value_or("").find("/" + unit) != std::string::npos;
}

}  // namespace

void enter_scope(sdbus::IConnection& connection, const Scope& scope) {
    const auto systemd = sdbus::createProxy(connection, compat::ServiceName(bus_names::kSystemd),
                                            sdbus::ObjectPath(bus_names::kSystemdPath));
    compat::finish_registration(*systemd);
    const std::vector<Property> properties = {
        {"Description", sdbus::Variant(model::printable(scope.description))},
        {"Slice", sdbus::Variant(scope.slice)},
        {"PIDs", sdbus::Variant(std::vector<std::uint32_t>{static_cast<std::uint32_t>(getpid())})},
        // Lets a failed job disappear without `systemctl reset-failed`.
        {"CollectMode", sdbus::Variant(std::string("inactive-or-failed"))}};
    sdbus::ObjectPath job;
    systemd->callMethod("StartTransientUnit")
        .onInterface(bus_names::kSystemdManager)
        .withArguments(scope.unit, std::string("fail"), properties, std::vector<Auxiliary>{})
        .storeResultsTo(job);
    // systemd answers before it moves the process.
    const auto give_up = std::chrono::steady_clock::now() + kMovingTakes;
    while (!is_in(scope.unit)) {
        if (std::chrono::steady_clock::now() >= give_up)
            throw compat::make_error(std::string(bus_names::kBusErrors) + "Timeout",
                                     "the process was not moved into it");
        std::this_thread::sleep_for(kLookEvery);
    }
}

}  // namespace cgpu::client
