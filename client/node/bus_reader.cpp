#include "client/node/bus_reader.hpp"

#include <chrono>
#include <string>

#include "client/node/bus_connection.hpp"
#include "client/node/bus_snapshot.hpp"
#include "dbus/names.hpp"

namespace cgpu::client {
namespace {

/// cgpud answers within milliseconds. Prometheus waits for ten seconds.
constexpr std::chrono::seconds kAnswerTakes{3};

/// The unique name of cgpud's connection: calls to it never start a service. Throws sdbus::Error if there is
/// no cgpud.
std::string owner_of_service(sdbus::IConnection& connection) {
    const auto bus = sdbus::createProxy(connection, compat::ServiceName(bus_names::kBus),
                                        sdbus::ObjectPath(bus_names::kBusPath));
    std::string owner;
    bus->callMethod("GetNameOwner")
        .onInterface(bus_names::kBus)
        .withArguments(std::string(bus_names::kService))
        .storeResultsTo(owner);
    return owner;
}

}  // namespace

struct BusReader::Bus {
    std::unique_ptr<sdbus::IConnection> connection = sdbus::createSystemBusConnection();

    Bus() { connection->setMethodCallTimeout(kAnswerTakes); }
};

BusReader::BusReader() = default;
BusReader::~BusReader() = default;

Result<Snapshot> BusReader::read() {
    auto snapshot = call([this] {
        if (bus_ == nullptr) bus_ = std::make_unique<Bus>();
        return read_snapshot(*bus_->connection, owner_of_service(*bus_->connection));
    });
    // The bus may have been restarted.
    if (!snapshot) bus_.reset();
    return snapshot;
}

}  // namespace cgpu::client
