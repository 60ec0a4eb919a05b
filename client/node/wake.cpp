#include "client/node/wake.hpp"

#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>

#include "client/node/bus_connection.hpp"
#include "dbus/names.hpp"

namespace cgpu::client {
namespace {

constexpr std::chrono::seconds kBusWaits{25};
constexpr std::chrono::milliseconds kProcessFor{100};
/// cgpud's exit status for an invalid configuration (EX_CONFIG).
constexpr std::int32_t kBadConfig = 78;

using Clock = std::chrono::steady_clock;

std::unique_ptr<sdbus::IProxy> proxy_of(sdbus::IConnection& connection, const char* service,
                                        const std::string& path) {
    return sdbus::createProxy(connection, compat::ServiceName(service), sdbus::ObjectPath(path));
}

/// Empty if there is no systemd, or if it doesn't know the unit.
std::optional<UnitState> look_at_unit(sdbus::IConnection& connection) {
    try {
        sdbus::ObjectPath path;
        proxy_of(connection, bus_names::kSystemd, bus_names::kSystemdPath)
            ->callMethod("GetUnit")
            .onInterface(bus_names::kSystemdManager)
            .withArguments(std::string("cgpud.service"))
            .storeResultsTo(path);
        const auto unit = proxy_of(connection, bus_names::kSystemd, path);
        UnitState state;
        state.active_state =
            unit->getProperty("ActiveState").onInterface(bus_names::kSystemdUnit).get<std::string>();
        state.status_text =
            unit->getProperty("StatusText").onInterface(bus_names::kSystemdService).get<std::string>();
        state.exit_status =
            unit->getProperty("ExecMainStatus").onInterface(bus_names::kSystemdService).get<std::int32_t>();
        return state;
    } catch (const sdbus::Error&) {
        return std::nullopt;
    }
}

void process_for(sdbus::IConnection& connection, std::chrono::milliseconds time) {
    const auto until = Clock::now() + time;
    while (Clock::now() < until) {
        if (compat::process_one(connection)) return;
        const auto wanted = connection.getEventLoopPollData();
        pollfd file{wanted.fd, wanted.events, 0};
        poll(&file, 1, static_cast<int>(time.count()));
    }
}

void tell_if_failed(sdbus::IConnection& connection) {
    const auto unit = look_at_unit(connection);
    const auto why = unit ? why_failed(*unit) : std::string();
    if (!why.empty()) throw compat::make_error(std::string(bus_names::kBusErrors) + "Spawn.Failed", why);
}

/// `bus`: of the bus itself.
bool is_running(sdbus::IProxy& bus) {
    bool there = false;
    bus.callMethod("NameHasOwner")
        .onInterface(bus_names::kBus)
        .withArguments(std::string(bus_names::kService))
        .storeResultsTo(there);
    return there;
}

}  // namespace

ServiceState service_state(sdbus::IConnection& connection) {
    const auto bus = proxy_of(connection, bus_names::kBus, bus_names::kBusPath);
    compat::finish_registration(*bus);
    ServiceState state;
    state.running = is_running(*bus);
    if (state.running) {
        std::uint32_t uid = 0;
        bus->callMethod("GetConnectionUnixUser")
            .onInterface(bus_names::kBus)
            .withArguments(std::string(bus_names::kService))
            .storeResultsTo(uid);
        state.uid = uid;
    }
    if (const auto unit = look_at_unit(connection)) {
        state.unit_state = unit->active_state;
        state.status_text = unit->status_text;
        state.failure = why_failed(*unit);
    }
    return state;
}

void wake_service(sdbus::IConnection& connection) {
    const auto bus = proxy_of(connection, bus_names::kBus, bus_names::kBusPath);
    compat::finish_registration(*bus);
    if (is_running(*bus)) return;
    // After a failed start the bus tries no other for 25 seconds, whoever asks.
    tell_if_failed(connection);
    std::optional<sdbus::Error> failure;
    bool answered = false;
    bus->callMethodAsync("StartServiceByName")
        .onInterface(bus_names::kBus)
        .withTimeout(kBusWaits)
        .withArguments(std::string(bus_names::kService), std::uint32_t{0})
        .uponReplyInvoke([&](compat::MaybeError error, std::uint32_t) {
            answered = true;
            if (error) failure.emplace(*error);
        });
    const auto give_up = Clock::now() + kBusWaits;
    while (!answered && Clock::now() < give_up) {
        process_for(connection, kProcessFor);
        if (answered) break;
        tell_if_failed(connection);
    }
    if (failure) throw *failure;
}

std::string why_failed(const UnitState& unit) {
    if (unit.active_state != "failed") return {};
    if (!unit.status_text.empty()) return "it does not start: " + unit.status_text;
    return unit.exit_status == kBadConfig ? "it does not start: its configuration is bad"
                                          : "its service has failed";
}

}  // namespace cgpu::client
