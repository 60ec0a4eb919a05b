// How the driver's libraries come to the daemon, and from it to the instance's processes.
#include "daemon/link/instance/instance_link.hpp"

namespace cgpu::link {

/// Before the program starts, all that descends from the instance's process makes its container or its
/// mounts. That brings the libraries before it lets the program start; whoever comes later is too late.
void InstanceLink::expect_hand_over(Connection& connection) {
    const auto& process = connection.process();
    const auto refuse = [&](const std::string& why) {
        log_.write(process.pid, why);
        connection.refuse(wire::Why::bad_request, why);
    };
    const bool makes_mounts =
        instance_.attached &&
        (process == *instance_.attached || outside_.processes.descends(process, *instance_.attached));
    if (!makes_mounts)
        return refuse(
            "The driver's libraries are taken from the instance's own process only, once it is attached.");
    if (driver_.any()) return refuse("The driver's libraries of this instance were handed over already.");
    connection.welcomed(wire::Role::hand_over, std::nullopt);
    connection.expect_files();
}

void InstanceLink::hand_over(Connection& connection, std::span<const std::byte> packet) {
    const auto message = wire::read_message<wire::HandOver>(packet);
    if (!message) return malformed(connection, "something else than a HandOver");
    if (const auto taken = driver_.take(*message, connection.take_files()); !taken) {
        log_.write(connection.process().pid, taken.error().text);
        return connection.refuse(wire::Why::bad_request, taken.error().text);
    }
    auto answer = wire::make_message<wire::DriverFiles>();
    answer.libraries = driver_.libraries();
    if (connection.send(answer)) connection.drop();
}

void InstanceLink::send_driver(Connection& connection) {
    if (!driver_.any()) {
        const std::string why =
            "cgpud doesn't have the driver's libraries of this instance. Try: start the container anew.";
        log_.write(connection.process().pid, why);
        return connection.refuse(wire::Why::no_driver, why);
    }
    auto answer = wire::make_message<wire::DriverFiles>();
    answer.libraries = driver_.libraries();
    if (connection.send(answer, driver_.fds())) connection.drop();
}

}  // namespace cgpu::link
