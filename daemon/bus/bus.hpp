#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "daemon/app/events/events.hpp"
#include "daemon/app/instances/unmanaged_containers.hpp"
#include "daemon/app/looks/second_look.hpp"
#include "daemon/app/ports/configuration.hpp"
#include "daemon/app/ports/examination.hpp"
#include "daemon/app/ports/loop.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/ports/upgrade/job_publisher.hpp"
#include "daemon/app/trace/traces.hpp"
#include "daemon/app/upgrade/upgrader.hpp"

namespace cgpu::bus {

class Objects;

/// org.cgpu1 on the system bus. Call in this order: connect(), create Service and Upgrader with it as
/// publisher, serve() and, when everything is ready, request_name().
class Bus final : public app::Publisher, public app::JobPublisher, public app::EventOutlet {
  public:
    /// `version`: the daemon's. `lost` is called once, on the loop, with the reason, when the connection
    /// breaks; nothing is served from then on. Error: `what: why. Try: …`. DBUS_SYSTEM_BUS_ADDRESS names
    /// another bus.
    [[nodiscard]] static tl::expected<std::unique_ptr<Bus>, std::string> connect(
        app::Loop& loop, std::string version, std::function<void(const std::string&)> lost);
    ~Bus() override;
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;

    /// `call` is called, on the loop, for each call that is refused because too many wait for an answer.
    void on_too_many_calls(std::function<void()> call);
    /// Exports the objects. Service, upgrader, containers, traces and driver must outlive this object, or
    /// stop_serving() must be called before they end.
    [[nodiscard]] tl::expected<void, std::string> serve(app::Service& service, app::Upgrader& upgrader,
                                                        app::UnmanagedContainers& unmanaged,
                                                        app::Traces& traces, const app::Examined& examined);
    void stop_serving();
    /// Calls that would be refused are tried once more after such a look. It must outlive this object. Call
    /// before serve().
    void set_second_look(app::SecondLook& look) { second_look_ = &look; }
    /// Makes the daemon available to clients. Error: the name is taken, or the bus's policy forbids it.
    [[nodiscard]] tl::expected<void, std::string> request_name();
    /// Publishes why the configuration isn't in force; empty: it is. May be called before serve().
    void set_configuration_problems(app::ConfigurationProblems problems);
    /// Publishes the functions of drivers that this release doesn't know. May be called before serve().
    void set_newer_driver_functions(std::vector<std::string> names);

    // A signal that fails is logged, never thrown: the change that it reports has been made already. A change
    // that a method makes is told after the method's answer, and before the next message is handled. Before
    // serve() these do nothing.
    void gpus_changed() override;
    void xid_reported(const model::XidError& xid) override;
    void default_memory_changed() override;
    void instance_added(const model::InstanceId& id) override;
    void instance_changed(const model::InstanceId& id) override;
    void instance_removed(const model::InstanceId& id) override;
    void unmanaged_changed() override;
    void job_changed() override;
    void job_ended(const upgrade::Ended& ended) override;
    void module_changed() override;
    void mode_changed() override;
    void engines_changed(const model::InstanceId& id) override;
    void happened(const app::Event& event, const app::Stamp& stamp) override;

  private:
    struct Connection;

    Bus(app::Loop& loop, std::string version, std::function<void(const std::string&)> lost);

    void watch();
    void dispatch();
    [[nodiscard]] app::Loop::Wanted wanted() const;
    /// Handles one message of the connection. False: there is none.
    bool handle_one();
    /// Runs what publishes a change: at once, or, if a message is being handled, after its answer, so that
    /// its sender doesn't wait until the bus has passed on the signals. `what`: for the log, if it fails.
    void publish(const char* what, std::function<void(Objects&)> body);
    void publish_delayed();
    void answer_late(const std::function<void()>& answer);
    bool try_again(const model::Refusal& refusal, std::function<void()> again);
    void refresh(const model::InstanceId& id);
    void refresh_gpus();

    app::Loop& loop_;
    std::string version_;
    app::ConfigurationProblems configuration_problems_;
    std::vector<std::string> newer_driver_functions_;
    std::function<void(const std::string&)> lost_;
    std::unique_ptr<Connection> connection_;
    app::WatchPtr watch_;
    app::Nanos let_through_at_ = 0;  ///< a call, the last time
    app::SecondLook* second_look_ = nullptr;
    bool handling_message_ = false;
    std::vector<std::function<void()>> delayed_;  ///< what publish() keeps until the answer
};

}  // namespace cgpu::bus
