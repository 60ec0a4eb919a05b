#include "daemon/bus/bus.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/bus/calls/call_turns.hpp"
#include "daemon/bus/calls/callers.hpp"
#include "daemon/bus/message/message_limits.hpp"
#include "daemon/bus/message/paths.hpp"
#include "daemon/bus/objects/objects.hpp"
#include "dbus/compat.hpp"
#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

/// A caller that floods the bus must not keep the loop from other work: no further message is begun in a turn
/// after this time.
constexpr app::Nanos kTurn = 2'000'000;
/// A call is let through when no message is left to be taken in, because somebody else's may be behind; and
/// after this time, if there is no end of them.
constexpr app::Nanos kMostTakingIn = 10'000'000;
/// After this time the bus may have read the answers that the next call waits for.
constexpr app::Nanos kLookAgain = 500'000;

}  // namespace

struct Bus::Connection {
    std::unique_ptr<sdbus::IConnection> bus;
    Callers callers;
    std::optional<CallTurns> turns;
    std::optional<MessageLimits> limits;  // a later filter, which is called before: see CallTurns
    std::optional<Objects> objects;       // after the connection: goes first
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
        bus->connection_->turns.emplace(*bus->connection_->bus, bus->connection_->callers);
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
        connection_->objects.emplace(*connection_->bus, connection_->callers, loop_, service, upgrader,
                                     unmanaged, traces, version_, examined);
        connection_->objects->authority().set_retry(
            [this](const model::Refusal& refusal, std::function<void()> again) {
                return try_again(refusal, std::move(again));
            });
        connection_->objects->authority().set_answer_late(
            [this](const std::function<void()>& answer) { answer_late(answer); });
        connection_->objects->manager().set_configuration_problems(configuration_problems_);
        connection_->objects->manager().set_newer_driver_functions(newer_driver_functions_);
    } catch (const sdbus::Error& error) {
        return tl::unexpected("exporting the objects: " + error.getMessage() + ". Try: restart cgpud.");
    }
    return {};
}

void Bus::on_too_many_calls(std::function<void()> call) { connection_->turns->on_too_many(std::move(call)); }

void Bus::stop_serving() { connection_->objects.reset(); }

tl::expected<void, std::string> Bus::request_name() {
    try {
        connection_->bus->requestName(compat::ServiceName(bus_names::kService));
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
    watch_ = loop_.watch_asking(
        connection_->bus->getEventLoopPollData().fd, [this] { return wanted(); }, [this] { dispatch(); });
}

/// A broken connection gets a turn at once, in which dispatch() detects the fault.
app::Loop::Wanted Bus::wanted() const {
    constexpr auto kNever = std::numeric_limits<app::Nanos>::max();
    try {
        const auto data = connection_->bus->getEventLoopPollData();
        const std::chrono::microseconds deadline = compat::deadline(data);
        const bool none = deadline.count() > kNever / 1000;
        app::Nanos when = none ? kNever : deadline.count() * 1000;
        // Nothing tells when the bus has read what was sent it.
        if (connection_->turns->has_waiting()) when = std::min(when, loop_.now() + kLookAgain);
        // The bits of poll and epoll are the same for the events that sd-bus uses (IN, OUT).
        return {static_cast<std::uint32_t>(data.events),
                connection_->turns->is_ready(loop_.now()) ? 0 : when};
    } catch (const sdbus::Error&) {
        return {0, 0};
    }
}

bool Bus::handle_one() {
    handling_message_ = true;
    const bool did = compat::process_one(*connection_->bus);
    publish_delayed();
    return did;
}

void Bus::dispatch() {
    try {
        const auto let_through = [this] {
            const auto now = loop_.now();
            if (!connection_->turns->let_through(now)) return false;
            let_through_at_ = now;
            return true;
        };
        const auto until = loop_.now() + kTurn;
        while (loop_.now() < until)
            if (!handle_one() && !let_through()) return;
        if (loop_.now() - let_through_at_ >= kMostTakingIn) let_through();
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

/// What the second try changes is told after its answer, as of the first.
bool Bus::try_again(const model::Refusal& refusal, std::function<void()> again) {
    if (second_look_ == nullptr || !second_look_->may_be_outdated(refusal)) return false;
    second_look_->then([this, again = std::move(again)] { answer_late(again); });
    return true;
}

/// A message may be the cause of it, and is still being handled: then what changes is told after that.
void Bus::answer_late(const std::function<void()>& answer) {
    if (!connection_->objects) return;
    if (handling_message_) return answer();
    handling_message_ = true;
    answer();
    publish_delayed();
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

void Bus::gpus_changed() { refresh_gpus(); }

void Bus::xid_reported(const model::XidError& xid) {
    publish("an Xid", [xid](Objects& objects) { objects.xid_reported(xid); });
}

void Bus::default_memory_changed() {
    publish("the default memory", [](Objects& objects) { objects.manager().default_memory_changed(); });
}

void Bus::instance_added(const model::InstanceId& id) { refresh(id); }

void Bus::instance_changed(const model::InstanceId& id) { refresh(id); }

void Bus::instance_removed(const model::InstanceId& id) { refresh(id); }

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
    publish("an event", [event, stamp](Objects& objects) { objects.happened(event, stamp); });
}

void Bus::engines_changed(const model::InstanceId& id) { refresh(id); }

}  // namespace cgpu::bus
