#include "daemon/link/instance/driver_exchange.hpp"

#include <string>
#include <utility>

namespace cgpu::link {

DriverExchange::DriverExchange(const model::Instance& instance, const std::filesystem::path& folder,
                               const Outside& outside, app::Nanos patience, NoticeLog& log)
    : instance_(instance),
      outside_(outside),
      patience_(patience),
      log_(log),
      files_(instance, folder, outside.descriptors, outside.drivers) {}

void DriverExchange::expect(const std::shared_ptr<Connection>& connection) {
    const auto& process = connection->process();
    const auto refuse = [&](const std::string& why) {
        log_.write(process.pid, why);
        connection->refuse(wire::Why::bad_request, why);
    };
    const bool makes_mounts =
        instance_.attached &&
        (process == *instance_.attached || outside_.processes.descends(process, *instance_.attached));
    if (!makes_mounts)
        return refuse(
            "The driver's libraries are taken from the instance's own process only, once it is attached.");
    if (files_.were_taken())
        return refuse("The driver's libraries of this instance were handed over already.");
    // An instance that root has made is that of root's engine, whatever user its hooks run as.
    const bool is_root = connection->peer_user() == 0U || instance_.creator == 0U;
    connection->welcomed(wire::Role::hand_over, std::nullopt);
    connection->expect_hello(outside_.loop.now() + patience_);  // its last word, too
    intake_ =
        FileIntake::start(connection->leave_reading(), is_root ? FileIntake::Of::root : FileIntake::Of::user,
                          outside_.loop, [this, from = std::weak_ptr(connection)](FileIntake::Came came) {
                              if (const auto there = from.lock(); there && there->usable())
                                  take(*there, std::move(came));
                          });
    if (!intake_) refuse("cgpud has too many drivers to check. Try: start it again in a moment.");
}

void DriverExchange::take(Connection& connection, FileIntake::Came came) {
    if (const auto taken = files_.take(std::move(came)); !taken) {
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
