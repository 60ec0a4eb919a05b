#include "client/node/bus_node.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "client/node/bus_connection.hpp"
#include "client/node/bus_snapshot.hpp"
#include "client/node/bus_watch.hpp"
#include "client/node/enter_scope.hpp"
#include "client/node/remote_host.hpp"
#include "client/node/wake.hpp"
#include "core/model/instance.hpp"
#include "core/model/utf8.hpp"
#include "core/request/request.hpp"
#include "dbus/caller.hpp"
#include "dbus/json/node_text.hpp"
#include "dbus/names.hpp"
#include "files/read.hpp"

namespace cgpu::client {
namespace {

using model::valid_utf8;  // the bus takes nothing else, and a program may be given any bytes

/// The resources of an ended instance are free within this time; the daemon marks the refusals after which it
/// is worth waiting.
constexpr std::chrono::seconds kEndingTakes{3};
constexpr std::chrono::milliseconds kBetweenTries{20};
/// Of a call that waits as long as it takes: the bus library adds its own clock to it.
constexpr model::Nanos kLongestWait = std::int64_t{10} * 365 * 86400 * model::kSecond;
/// A cgpud that was restarted is back within this time.
constexpr std::chrono::seconds kRestartTakes{30};
constexpr std::chrono::milliseconds kBetweenTriesToReach{200};
constexpr std::chrono::seconds kCallWasTaken{1};
/// Whoever starts hundreds of jobs at once has more programs at a moment than the bus takes connections of
/// one user (256, max_connections_per_user of dbus-daemon(1)). Each of them lasts some hundredths of a
/// second.
constexpr std::chrono::seconds kRoomOnTheBusTakes{30};
/// Longer than cgpud's own timeout, which gives the better message.
constexpr std::chrono::seconds kTypingTakes{150};

using Options = std::map<std::string, sdbus::Variant>;

Options options_for(bool dry_run) {
    Options options;
    if (dry_run) options.emplace("dry-run", sdbus::Variant(true));
    return options;
}

Options options_of(const Making& how) {
    Options options = options_for(how.dry_run);
    if (how.runtime) options.emplace("runtime", sdbus::Variant(true));
    if (how.persist) options.emplace("persist", sdbus::Variant(true));
    if (how.force) options.emplace("force", sdbus::Variant(true));
    if (how.if_generation) options.emplace("if-generation", sdbus::Variant(*how.if_generation));
    return options;
}

/// Of an Upgrade or a ModeSwitch.
template <class Wanted>
Options options_of_job(const Wanted& wanted) {
    Options options = options_for(wanted.dry_run);
    if (wanted.timeout_s) options.emplace("timeout", sdbus::Variant(*wanted.timeout_s));
    if (wanted.drain) options.emplace("drain", sdbus::Variant(true));
    return options;
}

/// As Apply of org.cgpu1.Manager takes it.
Options to_bus(const Change& change) {
    Options fields;
    const auto add = [&fields](const char* key, const auto& value) {
        if (value) fields.emplace(key, sdbus::Variant(*value));
    };
    if (!change.instance.empty()) fields.emplace("instance", sdbus::Variant(valid_utf8(change.instance)));
    if (!change.gpu.empty()) fields.emplace("gpu", sdbus::Variant(valid_utf8(change.gpu)));
    if (change.policy) fields.emplace("policy", sdbus::Variant(valid_utf8(*change.policy)));
    add("max-inst", change.max_inst);
    add("prio-ratio", change.prio_ratio);
    add("drained", change.drained);
    add("memory-limit", change.memory_limit);
    add("weight", change.weight);
    add("percentage", change.percent);
    add("high-priority", change.high_priority);
    add("paused", change.paused);
    if (change.revert) fields.emplace("revert", sdbus::Variant(true));
    return fields;
}

/// Calls again while the daemon says that an instance which holds the resources is just ending.
template <class Ask>
auto until_others_have_ended(Ask ask) {
    const auto give_up = std::chrono::steady_clock::now() + kEndingTakes;
    for (;;) {
        auto answer = call(ask);
        const bool ending = !answer && answer.error().kind == ClientError::Kind::try_again;
        if (!ending || std::chrono::steady_clock::now() >= give_up) return answer;
        std::this_thread::sleep_for(kBetweenTries);
    }
}

/// How long the request waits for its part of a GPU; empty: not at all, or cgpud refuses the value.
std::optional<model::Nanos> wait_of(const std::map<std::string, std::string>& variables) {
    const auto request = request::parse_request(variables);
    return request && *request ? (*request)->wait : std::nullopt;
}

/// Throws sdbus::Error.
std::unique_ptr<sdbus::IConnection> connect_to_system_bus(bool patient) {
    const auto give_up =
        std::chrono::steady_clock::now() + (patient ? kRoomOnTheBusTakes : std::chrono::seconds(0));
    for (;;) {
        try {
            return sdbus::createSystemBusConnection();
        } catch (const sdbus::Error& error) {
            const bool full = is_no_room(error.getName());
            if (!full || std::chrono::steady_clock::now() >= give_up) throw;
        }
        std::this_thread::sleep_for(kBetweenTries);
    }
}

}  // namespace

struct BusNode::Bus {
    std::unique_ptr<sdbus::IConnection> connection;
    ManagerProxy manager{*connection, bus_names::kManager};

    explicit Bus(std::unique_ptr<sdbus::IConnection> made) : connection(std::move(made)) {}

    GpuProxy gpu(const std::string& name) { return {*connection, manager.FindGpu(valid_utf8(name))}; }
    InstanceProxy instance(const std::string& name) {
        return {*connection, manager.FindInstance(valid_utf8(name))};
    }
};

BusNode::BusNode(bool interactive, std::string host, bool patient)
    : interactive_(interactive), host_(std::move(host)), patient_(patient) {}
BusNode::~BusNode() = default;

std::unique_ptr<sdbus::IConnection> BusNode::connect() const {
    return host_.empty() ? connect_to_system_bus(patient_) : connect_to_host(host_);
}

BusNode::Bus& BusNode::bus() {
    if (bus_ != nullptr) return *bus_;
    auto bus = std::make_unique<Bus>(connect());
    wake_service(*bus->connection);
    bus_ = std::move(bus);
    if (interactive_) {
        compat::allow_interaction(bus_->manager.proxy());
        bus_->connection->setMethodCallTimeout(kTypingTakes);
    }
    return *bus_;
}

Result<Snapshot> BusNode::read() {
    return call([&] { return read_snapshot(*bus().connection); });
}

Result<std::vector<Gpu>> BusNode::read_gpus() {
    return call([&] { return client::read_gpus(*bus().connection); });
}

Result<ServiceState> BusNode::service() {
    return call([&] {
        const auto connection = bus_ != nullptr ? nullptr : connect();
        return service_state(connection != nullptr ? *connection : *bus_->connection);
    });
}

Result<Examination> BusNode::examine() {
    return call([&] { return to_examination(bus().manager.Examine()); });
}

Result<std::string> BusNode::find_gpu(const std::string& gpu) {
    return call([&] { return bus().gpu(gpu).Uuid(); });
}

Result<std::string> BusNode::find_instance(const std::string& instance) {
    return call([&] { return bus().instance(instance).Id(); });
}

Result<std::vector<ConfigurationValue>> BusNode::configuration() {
    return call([&] { return to_configuration(bus().manager.GetConfiguration()); });
}

Result<void> BusNode::set_default_memory(std::optional<std::uint64_t> bytes, const Making& how) {
    return call([&] {
        if (bytes)
            bus().manager.SetDefaultMemory(*bytes, options_of(how));
        else
            bus().manager.RevertDefaultMemory(options_of(how));
    });
}

Result<std::uint64_t> BusNode::apply(const std::vector<Change>& changes, const Making& how) {
    std::vector<Options> all;
    all.reserve(changes.size());
    for (const Change& change : changes) all.push_back(to_bus(change));
    return call([&] { return bus().manager.Apply(all, options_of(how)); });
}

Result<view::Limits> BusNode::limits(const std::string& user) {
    const auto text = call([&] { return bus().manager.DescribeLimits(valid_utf8(user)); });
    if (!text) return tl::unexpected(text.error());
    auto limits = view::read_limits_text(*text);
    if (limits) return std::move(*limits);
    return fail(ClientError::Kind::failed,
                "cgpud's description of the limits can't be read: " + limits.error() +
                    ". Try: use the same release of cgpuctl as cgpud's.");
}

Result<std::string> BusNode::describe() {
    return call([&] { return bus().manager.Describe(); });
}

namespace {

Result<std::vector<std::byte>> content_of_history(const Result<sdbus::UnixFd>& file) {
    if (!file) return tl::unexpected(file.error());
    auto content = files::content_of(file->get());
    if (!content)
        return fail(ClientError::Kind::failed,
                    "history: it can't be read: " + std::generic_category().message(content.error()) +
                        ". Try: journalctl -u cgpud, and the disk.");
    return std::move(*content);
}

}  // namespace

Result<std::vector<std::byte>> BusNode::read_history() {
    return content_of_history(call([&] { return bus().manager.OpenHistory(); }));
}

Result<std::vector<std::byte>> BusNode::read_days() {
    return content_of_history(call([&] { return bus().manager.OpenDailyHistory(); }));
}

Result<int> BusNode::start_trace(const std::string& gpu, std::uint32_t seconds) {
    return call([&] { return bus().gpu(gpu).StartTrace({{"seconds", sdbus::Variant(seconds)}}).release(); });
}

Result<void> BusNode::forget(const std::string& name, std::optional<std::uint32_t> owner, const Making& how) {
    Options options = options_of(how);
    if (owner) options.emplace("owner", sdbus::Variant(*owner));
    return call([&] { bus().manager.Forget(valid_utf8(name), options); });
}

Result<Created> BusNode::create_instance(const NewInstance& wanted) {
    Options options = options_for(wanted.dry_run);
    if (!wanted.image.empty() && wanted.image.size() <= model::kMaxImageName)
        options.emplace("image", sdbus::Variant(valid_utf8(wanted.image)));
    if (wanted.user) options.emplace("user", sdbus::Variant(*wanted.user));
    if (wanted.held) {
        options.emplace("reserve", sdbus::Variant(wanted.held->token));
        options.emplace("hold", sdbus::Variant(wanted.held->seconds));
    }
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : wanted.variables) variables.emplace(valid_utf8(name), valid_utf8(value));
    const auto create = [&] {
        const auto [path, quotas, link, warnings] =
            bus().manager.CreateInstance(valid_utf8(wanted.id), valid_utf8(wanted.name), variables, options);
        return Created{to_quotas(quotas), link, warnings};
    };
    const auto wait = wanted.dry_run ? std::nullopt : wait_of(variables);
    if (!wait) return until_others_have_ended(create);
    return create_waiting(wanted.id, *wait, create);
}

/// The call lasts as long as the request waits. A cgpud that is started anew keeps its place, and has to be
/// asked again.
Result<Created> BusNode::create_waiting(const std::string& id, model::Nanos wait,
                                        const std::function<Created()>& create) {
    const auto longest = std::chrono::nanoseconds(std::min(wait, kLongestWait)) + kRestartTakes;
    const auto former = call([&] { return bus().connection->getMethodCallTimeout(); });
    if (!former) return tl::unexpected(former.error());
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> away;
    bool asked_before = false;
    const auto give_up = Clock::now() + longest;
    for (;;) {
        const auto began = Clock::now();
        bool reached = false;
        auto created = call([&] {
            (void)bus().manager.Version();
            reached = true;
            bus().connection->setMethodCallTimeout(
                std::chrono::duration_cast<std::chrono::microseconds>(longest));
            return create();
        });
        const auto now = Clock::now();
        const bool unreachable = !created && created.error().kind == ClientError::Kind::unreachable;
        // The answer of the one before was lost.
        if (!created && std::exchange(asked_before, false) && created.error().reason == "Exists" &&
            release_instance(id))
            continue;
        // It doesn't wait yet: polkit is being asked about too many others.
        if (!created && created.error().kind == ClientError::Kind::try_again && now < give_up) {
            std::this_thread::sleep_for(kBetweenTriesToReach);
            continue;
        }
        // It waited meanwhile: each restart has its own time.
        if (reached && now - began > kCallWasTaken) away.reset();
        if (!unreachable || (away && now - *away > kRestartTakes)) {
            (void)call([&] { bus().connection->setMethodCallTimeout(*former); });
            return created;
        }
        if (!away) away = now;
        asked_before = asked_before || reached;
        std::this_thread::sleep_for(kBetweenTriesToReach);
        bus_.reset();
    }
}

Result<QueuePlace> BusNode::queue_place(const std::string& id) {
    return call([&] {
        auto instance = bus().instance(id);
        return QueuePlace{instance.QueuePosition(), instance.WaitsFor()};
    });
}

Result<bool> BusNode::admit_unmanaged(const std::string& id, const std::string& name,
                                      const std::vector<std::string>& gpus) {
    std::vector<std::string> valid;
    valid.reserve(gpus.size());
    for (const std::string& gpu : gpus) valid.push_back(valid_utf8(gpu));
    return until_others_have_ended([&] {
        return bus().manager.AdmitUnmanaged(valid_utf8(id), valid_utf8(name), valid, options_for(false));
    });
}

Result<void> BusNode::attach(const std::string& id, std::uint32_t pid) {
    return call([&] { bus().manager.Attach(id, pid, options_for(false)); });
}

Result<void> BusNode::release_instance(const std::string& id) {
    return call([&] { bus().manager.ReleaseInstance(id, options_for(false)); });
}

Result<void> BusNode::extend(const std::string& instance, std::uint64_t seconds, const Making& how) {
    return call([&] { bus().manager.Extend(valid_utf8(instance), seconds, options_of(how)); });
}

Result<void> BusNode::rename(const std::string& id, const std::string& name, const Making& how) {
    return call([&] { bus().instance(id).Rename(valid_utf8(name), options_of(how)); });
}

Result<std::vector<std::uint32_t>> BusNode::stop(const std::string& id, std::uint32_t grace, bool dry_run) {
    return call([&] { return bus().instance(id).Stop(grace, options_for(dry_run)); });
}

Result<void> BusNode::enter_scope(const Scope& scope) {
    try {
        const auto own = scope.of_user ? sdbus::createSessionBusConnection() : nullptr;
        client::enter_scope(own ? *own : *bus().connection, scope);
        return {};
    } catch (const sdbus::Error& error) {
        auto why = error.getMessage();
        if (why.ends_with('.')) why.pop_back();
        return fail(ClientError::Kind::failed, scope.unit + ": " + why);
    }
}

Result<std::string> BusNode::begin_upgrade(const Upgrade& wanted) {
    const Options options = options_of_job(wanted);
    return call([&]() -> std::string {
        auto& manager = bus().manager;
        return wanted.hot ? manager.UpgradeHot(valid_utf8(wanted.version), options)
                          : manager.UpgradeCold(valid_utf8(wanted.version), options);
    });
}

Result<std::string> BusNode::begin_mode(const ModeSwitch& wanted) {
    Options options = options_of_job(wanted);
    if (wanted.runtime) options.emplace("runtime", sdbus::Variant(true));
    return call([&]() -> std::string { return bus().manager.SetMode(valid_utf8(wanted.mode), options); });
}

Result<Job> BusNode::read_job(const std::string& path) {
    return call([&] { return client::read_job(*bus().connection, path); });
}

Result<std::unique_ptr<JobWatch>> BusNode::watch_job(const std::string& path) {
    return call([&]() -> std::unique_ptr<JobWatch> {
        return std::make_unique<BusJobWatch>(*bus().connection, path);
    });
}

Result<std::unique_ptr<Watch>> BusNode::watch_instances() {
    return call(
        [&]() -> std::unique_ptr<Watch> { return std::make_unique<BusInstanceWatch>(*bus().connection); });
}

Result<void> BusNode::cancel_job(const std::string& path) {
    return call([&] { JobProxy(*bus().connection, path).Cancel(options_for(false)); });
}

}  // namespace cgpu::client
