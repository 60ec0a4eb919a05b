#include "daemon/link/instance/driver_exchange.hpp"

#include "daemon/link/instance/malformed.hpp"

namespace cgpu::link {

DriverExchange::DriverExchange(const model::Instance& instance, const std::filesystem::path& folder,
                               const Outside& outside, NoticeLog& log)
    : instance_(instance),
      outside_(outside),
      log_(log),
      files_(app::key_of(instance), folder, outside.descriptors, outside.drivers) {}

void DriverExchange::expect(Connection& connection) {
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
    if (files_.any()) return refuse("The driver's libraries of this instance were handed over already.");
    connection.welcomed(wire::Role::hand_over, std::nullopt);
    connection.expect_files();
}

void DriverExchange::take(Connection& connection, std::span<const std::byte> packet) {
    const auto message = wire::read_message<wire::HandOver>(packet);
    if (!message) return refuse_malformed(connection, log_, "something else than a HandOver");
    if (const auto taken = files_.take(*message, connection.take_files()); !taken) {
        log_.write(connection.process().pid, taken.error().text);
        return connection.refuse(wire::Why::bad_request, taken.error().text);
    }
    auto answer = wire::make_message<wire::DriverFiles>();
    answer.libraries = files_.libraries();
    if (connection.send(answer)) connection.drop();
}

void DriverExchange::send(Connection& connection) {
    if (!files_.any()) {
        const std::string why =
            "cgpud doesn't have the driver's libraries of this instance. Try: start the container anew.";
        log_.write(connection.process().pid, why);
        return connection.refuse(wire::Why::no_driver, why);
    }
    auto answer = wire::make_message<wire::DriverFiles>();
    answer.libraries = files_.libraries();
    if (connection.send(answer, files_.fds())) connection.drop();
}

}  // namespace cgpu::link
