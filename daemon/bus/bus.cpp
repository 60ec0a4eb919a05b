#include "daemon/bus/bus.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/bus/message/message_limits.hpp"
#include "daemon/bus/message/paths.hpp"
#include "daemon/bus/objects/objects.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {
namespace {

/// A caller that floods the bus must not keep the loop from other work: no further message is begun in a turn
/// after this many messages, or this time.
constexpr int kMessagesPerTurn = 64;
constexpr app::Nanos kTurn = 2'000'000;

/// A broken connection gets a turn at once, in which dispatch() detects the fault.
app::Loop::Wanted wanted_by(const sdbus::IConnection& connection) {
    constexpr auto kNever = std::numeric_limits<app::Nanos>::max();
    try {
        const auto data = connection.getEventLoopPollData();
        const std::chrono::microseconds deadline = compat::deadline(data);
        const bool none = deadline.count() > kNever / 1000;
        // The bits of poll and epoll are the same for the events that sd-bus uses (IN, OUT).
        return {static_cast<std::uint32_t>(data.events), none ? kNever : deadline.count() * 1000};
    } catch (const sdbus::Error&) {
        return {0, 0};
    }
}

}  // namespace

struct Bus::Connection {
    std::unique_ptr<sdbus::IConnection> bus;
    std::optional<MessageLimits> limits;
    std::optional<Objects> objects;  // after the connection: goes first
};

Bus::Bus(app::Loop& loop, std::string version, std::function<void(const std::string&)> lost)
    : loop_(loop),
      version_(std::move(version)),
      lost_(std::move(lost)),
      connection_(std::make_unique<Connection>()) {}

Bus::~Bus() = default;

tl::expected<std::unique_ptr<Bus>, std::string> Bus::connect(app::Loop& loop, std::string version,
                                                             std::function<void(const std::string&)> lost) {
    std::unique_ptr<Bus> bus(new Bus(loop, std::move(version), std::move(lost)));
    try {
        bus->connection_->bus = sdbus::createSystemBusConnection();
        bus->connection_->limits.emplace(*bus->connection_->bus);
        bus->watch();
    } catch (const sdbus::Error& error) {
        return tl::unexpected("the system bus: " + error.getMessage() + ". Try: systemctl status dbus.");
    }
    return bus;
}

tl::expected<void, std::string> Bus::serve(app::Service& service, app::Upgrader& upgrader,
                                           app::UnmanagedContainers& unmanaged, app::Traces& traces,
                                           const app::Examined& examined) {
    try {
        connection_->objects.emplace(*connection_->bus, service, upgrader, unmanaged, traces, version_,
                                     examined);
        connection_->objects->manager().set_configuration_problems(configuration_problems_);
        connection_->objects->manager().set_newer_driver_functions(newer_driver_functions_);
    } catch (const sdbus::Error& error) {
        return tl::unexpected("exporting the objects: " + error.getMessage() + ". Try: restart cgpud.");
    }
    return {};
}

void Bus::stop_serving() { connection_->objects.reset(); }

tl::expected<void, std::string> Bus::request_name() {
    try {
        connection_->bus->requestName(compat::ServiceName(kServiceName));
    } catch (const sdbus::Error& error) {
        return tl::unexpected("the bus name org.cgpu1: " + error.getMessage() +
                              ". Try: check whether another cgpud runs, and whether org.cgpu1.conf is in "
                              "/usr/share/dbus-1/system.d.");
    }
    return {};
}

void Bus::watch() {
    // After every message sd-bus may want other events and another deadline, so they are read before each
    // wait: otherwise messages that it has queued itself would stay there until the next message.
    sdbus::IConnection& bus = *connection_->bus;
    watch_ = loop_.watch_asking(
        bus.getEventLoopPollData().fd, [&bus] { return wanted_by(bus); }, [this] { dispatch(); });
}

void Bus::dispatch() {
    try {
        const auto until = loop_.now() + kTurn;
        for (int n = 0; n < kMessagesPerTurn && loop_.now() < until; ++n) {
            handling_message_ = true;
            const bool more = compat::process_one(*connection_->bus);
            publish_delayed();
            if (!more) break;
        }
    } catch (const std::exception& error) {
        publish_delayed();
        // The watch can't end inside its own callback.
        loop_.post([this, text = std::string(error.what())] {
            if (watch_ == nullptr) return;
            watch_.reset();
            lost_("the connection to the system bus: " + text);
        });
    }
}

void Bus::publish(const char* what, std::function<void(Objects&)> body) {
    if (!connection_->objects) return;
    auto guarded = [this, what, body = std::move(body)] {
        if (!connection_->objects) return;
        try {
            body(*connection_->objects);
        } catch (const std::exception& error) {
            log::error("telling the bus of {}: {}", what, error.what());
        }
    };
    if (handling_message_)
        delayed_.emplace_back(std::move(guarded));
    else
        guarded();
}

void Bus::publish_delayed() {
    handling_message_ = false;
    for (const auto& each : std::exchange(delayed_, {})) each();
}

void Bus::refresh(const model::InstanceId& id) {
    publish("an instance", [id](Objects& objects) { objects.refresh(id); });
}

void Bus::refresh_gpus() {
    publish("a GPU", [](Objects& objects) { objects.refresh_gpus(); });
}

void Bus::gpu_changed(const model::Uuid&) { refresh_gpus(); }

void Bus::xid_reported(const model::XidError& xid) {
    publish("an Xid", [xid](Objects& objects) { objects.xid_reported(xid); });
}

void Bus::default_memory_changed() {
    publish("the default memory", [](Objects& objects) { objects.manager().default_memory_changed(); });
}

// The free resources of a GPU change with its instances. An instance is published before a GPU names it, and
// removed after no GPU does.
void Bus::instance_added(const model::InstanceId& id) {
    refresh(id);
    refresh_gpus();
}

void Bus::instance_changed(const model::InstanceId& id) {
    refresh(id);
    refresh_gpus();
}

void Bus::instance_removed(const model::InstanceId& id) {
    refresh_gpus();
    refresh(id);
}

void Bus::unmanaged_changed() {
    publish("the unmanaged containers", [](Objects& objects) { objects.manager().unmanaged_changed(); });
}

void Bus::job_changed() {
    publish("a job", [](Objects& objects) { objects.refresh_job(); });
}

void Bus::job_ended(const upgrade::Ended& ended) {
    // The job's object changes before the signal is sent.
    job_changed();
    publish("a job's end", [ended](Objects& objects) { objects.manager().job_ended(ended); });
}

void Bus::module_changed() {
    publish("the module", [](Objects& objects) { objects.manager().module_changed(); });
}

void Bus::mode_changed() {
    publish("the mode", [](Objects& objects) { objects.manager().mode_changed(); });
    refresh_gpus();
}

void Bus::set_configuration_problems(app::ConfigurationProblems problems) {
    configuration_problems_ = std::move(problems);
    publish("the configuration", [this](Objects& objects) {
        objects.manager().set_configuration_problems(configuration_problems_);
    });
}

void Bus::set_newer_driver_functions(std::vector<std::string> names) {
    newer_driver_functions_ = std::move(names);
    publish("the drivers", [this](Objects& objects) {
        objects.manager().set_newer_driver_functions(newer_driver_functions_);
    });
}

void Bus::happened(const app::Event& event, const app::Stamp& stamp) {
    publish("an event", [event, stamp](Objects& objects) { objects.manager().happened(event, stamp); });
}

void Bus::engines_changed(const model::InstanceId& id) { refresh(id); }

}  // namespace cgpu::bus
