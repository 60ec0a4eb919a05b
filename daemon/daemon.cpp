#include "daemon/daemon.hpp"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "core/model/reason_in.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/app/upgrade/mode_differences.hpp"
#include "daemon/configuration_view.hpp"
#include "daemon/system/log/log.hpp"
#include "daemon/system/notify.hpp"
#include "daemon/system/unmanaged_rule.hpp"

namespace cgpu {
namespace {

using app::kSecond;
/// How long a closed gate holds without being renewed. The slicer renews three times as often.
constexpr app::Nanos kHold = kSecond;
/// If the driver shows no GPU, or not all, it is queried again after this time; if it shows all (one may
/// disappear), after the longer time.
constexpr app::Nanos kLookAgainSoon = 5 * kSecond;
constexpr app::Nanos kLookAgain = app::History::kLookEvery;
constexpr std::uint64_t kMib = 1ull << 20;
/// Descriptors that are not for the connections of processes, if a quarter of all isn't less: six for each of
/// 400 instances (25 on each of 16 GPUs), and those of cgpud itself.
constexpr std::size_t kOtherDescriptors = 2560;

upgrade::Version own_version() { return upgrade::Version::parse(CGPU_VERSION).value_or(upgrade::Version{}); }

app::OnEscape on_escape(config::OnEscape configured) {
    if (configured == config::OnEscape::kill) return app::OnEscape::kill;
    return configured == config::OnEscape::refuse ? app::OnEscape::refuse : app::OnEscape::report;
}

std::uint64_t wall_clock() { return static_cast<std::uint64_t>(time(nullptr)); }

std::uint64_t wall_clock_us() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

void Daemon::block_signals() { system::EventLoop::block({SIGTERM, SIGINT, SIGHUP}); }

Daemon::Daemon(config::Sources sources, config::Loaded configuration, std::filesystem::path nvml_socket)
    : sources_(std::move(sources)),
      at_start_(configuration),
      read_(std::move(configuration)),
      events_(wall_clock_us),
      processes_(loop_),
      nvml_reader_(std::move(nvml_socket), gpu::kReaderProgram),
      driver_(loop_, [this] { return nvml_reader_.start(); }),
      store_(read_.config.state_dir),
      modules_(read_.config.module_dir),
      newer_functions_([this](const auto& names) { bus_->set_newer_driver_functions(names); }) {
    events_.add(event_log_);
    events_.add(memory_trim_);
    events_.add(cut_off_watch_);
    events_.look_up_in([this] { return service_ ? &service_->node() : nullptr; });
    system::set_up_log(read_.config.log_level);
}

Daemon::~Daemon() {
    // Members tell what they have counted when they are destroyed, and the service may be gone by then.
    events_.look_up_in([] { return nullptr; });
    // The bus must stop using the service before it is destroyed: no call comes in between.
    if (bus_) bus_->stop_serving();
    if (traces_) traces_->stop();
}

app::Settings Daemon::service_settings() const {
    return {read_.config.admission,
            [config = read_.config](const model::SeenGpu& gpu) { return config.settings_for(gpu); },
            read_.config.unknown_variables,
            read_.config.unmanaged,
            read_.config.profiles,
            read_.config.time,
            read_.config.idle,
            read_.config.ends};
}

void Daemon::take_unmanaged_rule() {
    unmanaged_->set_rule(read_.config.unmanaged);
    const auto rule = admission::to_string(read_.config.unmanaged);
    if (const auto written = system::write_unmanaged_rule(at_start_.config.runtime_dir, rule); !written)
        log::error("{}", written.error().text);
}

void Daemon::fail(const std::string& why) {
    log::critical("{}", why);
    loop_.stop(1);
}

void Daemon::compose(store::State state) {
    app::LeaseSettings leases;
    leases.recall.chunk = read_.config.lease_chunk_mib * kMib;
    leases.first_context_estimate = read_.config.context_estimate_mib * kMib;
    leases.unexplained.gap = read_.config.escape_gap_mib * kMib;
    leases.on_escape = on_escape(read_.config.on_escape);
    if (leases.on_escape == app::OnEscape::kill && !system::Processes::may_kill_others())
        log::warn(
            "on_escape: kill: cgpud may not kill other users' processes, and will refuse them memory "
            "instead. "
            "Try: give it CAP_KILL by kill.conf, see cgpud(8)");
    leases_ = std::make_unique<app::Leases>(
        app::Leases::Outside{loop_, processes_, driver_, *lease_file_, events_}, leases);
    slicer_ = std::make_unique<app::SlicerThread>(
        app::SlicerThread::Timing{read_.config.slice_ms * kSecond / 1000, kHold},
        [this](const model::InstanceId& id, const model::Uuid& gpu, std::int32_t process) {
            loop_.post([this, id, gpu, process] {
                if (const auto* instance = service_ ? service_->node().find_instance(id) : nullptr)
                    doubted_reports_.happened(*instance, gpu, process);
            });
        });
    witness_ = std::make_unique<app::ComputeWitness>(app::ComputeWitness::Outside{
        loop_, driver_, *slicer_, events_,
        [this](const auto& id, const auto& gpu) { return leases_->pools().outside(id, gpu); }});
    usage_ = std::make_unique<app::UsageReader>(*leases_, *slicer_, *witness_);
    histories_ = open_histories(read_.config);
    history_ = std::make_unique<app::History>(
        app::History::Outside{loop_, *usage_, *histories_.records, *histories_.days, wall_clock_us,
                              local_day_begin, read_.config.fair_half_life},
        read_.config.history_interval_s * kSecond);
    traces_ = std::make_unique<app::Traces>(
        app::Traces::Outside{loop_, *slicer_, *usage_, trace_sockets_,
                             [this] { return service_ ? &service_->node() : nullptr; }, wall_clock_us});
    events_.add(*traces_);

    upgrader_ = std::make_unique<app::Upgrader>(
        std::move(state.record), own_version(),
        app::Upgrader::Outside{
            loop_, modules_, store_, *bus_,
            [this]() -> const model::Node::Instances& { return service_->node().instances(); },
            processes_.boot_id(), events_});

    link::Settings link;
    link.runtime_dir = read_.config.runtime_dir;
    link.on_loss = read_.config.on_daemon_loss == config::OnDaemonLoss::open ? wire::OnLoss::open
                                                                             : wire::OnLoss::stay_closed;
    link.hold = kHold;
    const auto descriptors = system::descriptor_limit();
    link.max_descriptors = descriptors - std::min(descriptors / 4, kOtherDescriptors);
    const auto total = [this](const model::Uuid& uuid) {
        const auto* gpu = service_->node().find_gpu(uuid);
        return gpu ? gpu->total : model::Bytes();
    };
    const auto pid_place = [this](const model::Process& process) { return processes_.pid_place(process); };
    const auto idle = [this](const model::InstanceId& id) { service_->link_idle(id); };
    const auto share = [this](const model::InstanceId& id, const model::Uuid& gpu) {
        return usage_->usage(id, gpu).achieved_share;
    };
    link_ = std::make_unique<link::Server>(
        link::Outside{loop_, processes_, *slicer_, *leases_, *upgrader_, descriptors_, newer_functions_,
                      events_, total, pid_place, idle, share},
        link);
    second_looks_ = std::make_unique<app::SecondLooks>(app::SecondLooks::Outside{
        loop_, [this](auto done) { look_again(std::move(done)); },
        [this]() -> const model::Node& { return service_->node(); }, [this] { return failures_ > 0; }});
    bus_->set_second_look(*second_looks_);
    const app::NodeFollowers followers = {*records_, *history_, *slicer_};
    service_ = std::make_unique<app::Service>(
        std::move(state.node), service_settings(),
        app::Service::Outside{loop_, store_, *bus_, *link_, processes_, followers, *usage_, *upgrader_,
                              events_, wall_clock, processes_.boot_id(), second_looks_.get(), &limits_,
                              [this](const auto& name, const auto& owner) { history_->refused(name, owner); },
                              queued_.get(),
                              [this] { return read_.config.fair ? &history_->recent() : nullptr; }});
    limits_.set_rules(read_.config.limits);
    upgrader_->set_modes_of_gpus(service_.get());
    unmanaged_ = std::make_unique<app::UnmanagedContainers>(app::UnmanagedContainers::Outside{
        loop_, *bus_, *link_, processes_, driver_, *service_, events_, wall_clock});
    take_unmanaged_rule();
}

tl::expected<void, std::string> Daemon::start() {
    for (const auto& warning : read_.warnings) log::warn("{}", warning.text);
    std::optional<system::EndedBySignals> reading(std::in_place);
    auto state = store_.load();
    if (!state) {
        system::notify_last_status(state.error().text);
        return tl::unexpected(state.error().text);
    }
    auto leases = store::LeaseFile::open(read_.config.runtime_dir / "leases");
    if (!leases) return tl::unexpected(leases.error().text);
    lease_file_ = std::move(*leases);
    if (!lease_file_->damage().empty()) log::error("leases: {}", lease_file_->damage());

    records_ = std::make_unique<store::InstanceRecords>(read_.config.runtime_dir / "admitted");
    queued_ = std::make_unique<store::QueueRecords>(read_.config.runtime_dir / "queued");
    left_ = std::make_unique<LeftInstances>(*records_, processes_, processes_.boot_id());
    if (left_->complete(state->node))
        if (const auto saved = store_.save(state->node); !saved) log::error("{}", saved.error().text);
    choose_module(*state);
    reading.reset();
    auto connected = bus::Bus::connect(loop_, CGPU_VERSION, [this](const std::string& why) { fail(why); });
    if (!connected) return tl::unexpected(connected.error());
    bus_ = std::move(*connected);
    bus_->on_too_many_calls([this] { memory_trim_.used_memory(); });
    events_.add(*bus_);
    compose(std::move(*state));
    look_for_gpus();
    take_over_instances();
    return {};
}

void Daemon::take_over_instances() {
    leases_->wait_for_driver();
    service_->adopt();
    service_->adopt_queue(queued_->left(processes_.boot_id()));
    upgrader_->resume();
}

/// The version in force may have been removed, by an administrator or with a package. On a node without
/// instances another version may replace it; on a node with instances, their processes have loaded it
/// already.
void Daemon::choose_module(store::State& state) {
    auto& in_force = state.record.in_force;
    const auto version = in_force.value_or(own_version());
    const auto verified = modules_.verified(version);
    if (verified) return;
    const bool idle = state.node.instances().empty() && !state.record.job;
    if (idle && version != own_version() && modules_.verified(own_version())) {
        log::warn("{} {} is in force now.", verified.error().text, CGPU_VERSION);
        in_force = own_version();
        if (const auto saved = store_.save(state.record); !saved) log::error("{}", saved.error().text);
        return;
    }
    log::error("{} Jobs will be refused until it is there.", verified.error().text);
}

/// At whole multiples of the time since 1970, so that the intervals of the history begin and end with looks.
app::Nanos Daemon::next_look_at(app::Nanos every) const {
    constexpr app::Nanos kLate = kSecond / 50;  // timers of the wall clock may be early while it is corrected
    const auto passed = static_cast<app::Nanos>(wall_clock_us() * 1000 % static_cast<std::uint64_t>(every));
    const auto left = every - passed + kLate;
    return loop_.now() + (left < kSecond ? left + every : left);
}

void Daemon::look_for_gpus() {
    history_->tick();
    witness_->look();
    driver_.list([this](const app::Result<model::SeenGpus>& seen) { gpus_listed(seen); });
}

void Daemon::gpus_listed(const app::Result<model::SeenGpus>& seen) {
    if (seen) {
        failures_ = 0;
        const auto before = service_->node().gpus();
        service_->gpus_seen(*seen);
        // Connected processes have been told the memory of the cards that the state had.
        if (service_->node().gpus() != before)
            for (const auto& [id, instance] : service_->node().instances()) link_->refresh(instance);
        std::vector<model::Uuid> uuids;
        std::ranges::transform(seen->gpus, std::back_inserter(uuids), &model::SeenGpu::uuid);
        leases_->set_gpus(std::move(uuids));
    } else {
        driver_failed(seen.error().text);
    }
    left_->driver_answered({*service_, *link_, *leases_, descriptors_});
    const bool whole = seen && !seen->gpus.empty() && seen->lost.empty();
    next_look_ = loop_.at(next_look_at(whole ? kLookAgain : kLookAgainSoon), [this] { look_for_gpus(); });
    if (std::exchange(open_, true)) return;
    leases_->driver_answered();
    if (const auto opened = open_to_clients(); !opened) fail(opened.error());
}

/// A driver that doesn't answer counts at the looks that are due, not here: any user can ask for one of
/// these.
void Daemon::look_again(std::function<void()> done) {
    driver_.list([this, done = std::move(done)](const app::Result<model::SeenGpus>& seen) {
        if (seen) gpus_listed(seen);
        unmanaged_->look_now(done);
    });
}

/// One failure may be a busy driver; after two, nothing more is put on GPUs that can't be used.
void Daemon::driver_failed(const std::string& why) {
    ++failures_;
    log::line(failures_ <= 2 ? log::Level::warn : log::Level::debug, why);
    if (failures_ >= 2) service_->driver_lost(model::reason_in(why));
}

tl::expected<void, std::string> Daemon::open_to_clients() {
    take_configured_mode();
    if (auto served = bus_->serve(
            *service_, *upgrader_, *unmanaged_, *traces_,
            {driver_,
             {at_start_.config.state_dir, at_start_.config.runtime_dir, at_start_.config.module_dir},
             [this] { return configuration_values(); },
             *histories_.records,
             *histories_.days});
        !served)
        return served;
    if (auto named = bus_->request_name(); !named) return named;
    tell_started();
    system::notify_ready(status());
    return {};
}

void Daemon::tell_started() {
    app::Event event{.type = app::EventType::daemon_started};
    event.message = "cgpud " + std::string(CGPU_VERSION) + " serves org.cgpu1: " + status();
    event.details = {{"version", std::string(CGPU_VERSION)},
                     {"gpus", std::uint64_t{service_->node().gpus().size()}},
                     {"instances", std::uint64_t{service_->node().instances().size()}}};
    events_.happened(std::move(event));
}

void Daemon::take_configured_mode() {
    upgrader_->set_configured_mode(read_.config.gpu_defaults.mode);
    const auto wanted = [this](const model::SeenGpu& gpu) { return read_.config.settings_for(gpu).mode; };
    for (const auto& difference :
         app::mode_differences(service_->node(), read_.config.gpu_defaults.mode, upgrader_->mode(), wanted))
        log::line(log::Level::warn, difference.text, difference.about);
}

app::ConfigurationValues Daemon::configuration_values() const {
    return cgpu::configuration_values(
        {at_start_, read_, service_->node(), upgrader_->mode(), upgrader_->mode_until_reboot()});
}

std::string Daemon::status() const {
    const auto& node = service_->node();
    return std::to_string(node.gpus().size()) + " GPUs, " + std::to_string(node.instances().size()) +
           " instances";
}

/// Tells clients, who don't read the journal. Without problems the configuration is in force again.
void Daemon::refuse_configuration(const config::Problems& problems) {
    if (problems.empty())
        refused_since_.reset();
    else if (!refused_since_)
        refused_since_ = wall_clock();
    app::ConfigurationProblems published;
    for (const auto& problem : problems)
        published.push_back({problem.origin.file, problem.origin.line, problem.text, *refused_since_});
    bus_->set_configuration_problems(std::move(published));
}

void Daemon::reload() {
    system::notify_reloading();
    auto loaded = config::load(sources_);
    if (!loaded) {
        for (const auto& problem : loaded.error()) log::error("{}", problem.text);
        app::Event refused{.type = app::EventType::configuration_refused, .level = log::Level::error};
        refused.message = "the configuration stays as it was";
        refused.details["reason"] = loaded.error().front().text;
        events_.happened(std::move(refused));
        system::notify_ready("bad configuration, the one before stays in force: " +
                             loaded.error().front().text);
        refuse_configuration(loaded.error());
        return;
    }
    const auto before = configuration_values();
    read_ = std::move(*loaded);
    refuse_configuration({});
    for (const auto& warning : read_.warnings) log::warn("{}", warning.text);
    service_->set_settings(service_settings());
    limits_.set_rules(read_.config.limits);
    take_unmanaged_rule();
    take_configured_mode();
    system::set_up_log(read_.config.log_level);
    events_.happened({.type = app::EventType::configuration_read, .message = "configuration read again"});
    for (const auto& line : not_put_in_force(before, configuration_values())) log::warn("{}", line);
    system::notify_ready(status());
}

int Daemon::run() {
    signals_.push_back(loop_.on_signal(SIGTERM, [this] { loop_.stop(0); }));
    signals_.push_back(loop_.on_signal(SIGINT, [this] { loop_.stop(0); }));
    signals_.push_back(loop_.on_signal(SIGHUP, [this] { reload(); }));
    loop_.keep_watchdog();
    if (const auto started = start(); !started) {
        log::critical("{}", started.error());
        return 1;
    }
    const int result = loop_.run();
    system::notify_stopping();
    history_->finish();
    events_.happened(
        {.type = app::EventType::daemon_stopped, .message = "cgpud stops; jobs go on without it"});
    return result;
}

}  // namespace cgpu
