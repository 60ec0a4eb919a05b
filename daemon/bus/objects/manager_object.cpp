#include "daemon/bus/objects/manager_object.hpp"

#include <limits>
#include <tuple>
#include <utility>
#include <variant>

#include "core/model/utf8.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/bus/authority/permitted.hpp"
#include "daemon/bus/message/changes.hpp"
#include "daemon/bus/message/errors.hpp"
#include "daemon/bus/message/examined.hpp"
#include "daemon/bus/message/paths.hpp"
#include "daemon/bus/objects/event_view.hpp"
#include "daemon/bus/objects/manager_view.hpp"
#include "dbus/json/node_text.hpp"
#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

using model::valid_utf8;  // names of files have any bytes, and the bus takes nothing else

// The service tells of instances and containers that it refuses.
constexpr MethodCall kCreate{.method = "CreateInstance", .told_otherwise = true};
constexpr MethodCall kCreateHigh{.method = "CreateInstance",
                                 .told_otherwise = true,
                                 .part = MethodCall::Part{"high priority", "ask for normal priority"}};
constexpr MethodCall kAdmit{.method = "AdmitUnmanaged", .told_otherwise = true};
constexpr MethodCall kCreateWeaker{
    .method = "CreateInstance",
    .told_otherwise = true,
    .part = MethodCall::Part{"a weaker mode than the configured one", "ask for no mode (CGPU_MODE)"}};

/// What a refusal names, if more is needed than to run an instance.
const MethodCall& creation_with(const std::vector<Action>& actions) {
    if (actions.back() == Action::upgrade_module) return kCreateWeaker;
    return actions.front() == Action::manage_instance ? kCreateHigh : kCreate;
}

sdbus::ObjectPath path_of_begun(std::uint64_t job) {
    return job == 0 ? sdbus::ObjectPath("/") : path_of_job(job);
}

app::Result<std::int32_t> to_pid(std::uint32_t pid) {
    if (pid != 0 && pid <= static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max()))
        return static_cast<std::int32_t>(pid);
    return model::refuse(model::Refusal::Reason::invalid, "pid " + std::to_string(pid),
                         "it is not a process id", "use a number above 0");
}

/// Asks the bus each time: the process must be the caller's own. Throws sdbus::Error if the caller or its
/// process has ended.
app::Caller caller_of(const sdbus::IObject& object, const app::Service& service, const char* method) {
    return guarded(method, [&] {
        const auto& message = compat::message_of(object);
        return app::Caller{message.getCredsEuid(), take(service.identify(message.getCredsPid()))};
    });
}

/// Attaching the caller's own processes needs only org.cgpu1.run.
Action action_for(const app::Caller& caller) {
    return caller.own_only ? Action::run : Action::manage_instance;
}

/// The path of the object that a single change is about; empty: there are several, or no such object.
std::string changed_by(const std::vector<app::NodeChange>& changes, const app::Service& service,
                       std::uint32_t user) {
    if (changes.size() != 1) return {};
    if (const auto* change = std::get_if<app::GpuChange>(&changes.front())) {
        const auto uuid = service.find_gpu(change->gpu);
        return uuid ? std::string(path_of(*uuid)) : std::string();
    }
    const auto& word = std::get<std::string>(std::get<app::QuotaChange>(changes.front()).instance);
    const auto id = service.find_instance(word, {user, true});
    return id ? std::string(path_of(*id)) : std::string();
}

void emit_changed(sdbus::IObject& object, const std::vector<compat::PropertyName>& changed) {
    object.emitPropertiesChangedSignal(org::cgpu1::Manager_adaptor::INTERFACE_NAME, changed);
}

}  // namespace

ManagerObject::ManagerObject(sdbus::IConnection& connection, Authority& authority, app::Service& service,
                             app::Upgrader& upgrader, app::UnmanagedContainers& unmanaged, CallerUsage& usage,
                             HandedOut& handed_out, Told& told, app::Examined examined)
    : AdaptorInterfaces(connection, sdbus::ObjectPath(bus_names::kManager)),
      authority_(authority),
      service_(service),
      upgrader_(upgrader),
      unmanaged_(unmanaged),
      usage_(usage),
      handed_out_(handed_out),
      told_(told),
      examined_(std::move(examined)),
      examinations_(std::make_shared<Examinations>()) {
    registerAdaptor();
}

ManagerObject::~ManagerObject() { unregisterAdaptor(); }

void ManagerObject::CreateInstance(Created&& result, std::string id, std::string name,
                                   std::map<std::string, std::string> variables, OptionMap options) {
    const auto caller = caller_of(getObject(), service_, "CreateInstance");
    auto read = guarded("CreateInstance", [&] { return take(read_create_options(options)); });
    const auto call = std::make_shared<const app::Asked>(
        app::Asked{std::move(id), std::move(name), std::move(variables), caller, read.options,
                   std::move(read.origin), std::move(read.hold)});
    const auto actions = actions_for(call->variables, service_.node(), upgrader_.mode(), service_.profiles());
    const auto before = [&service = service_, call](auto done) {
        service.before_creation(*call, std::move(done));
    };
    // Of one that waits, polkit was asked when it came.
    const auto asked_for = service_.waits(*call) ? std::vector<Action>() : actions;
    when_permitted(
        authority_, asked_for, getObject(), creation_with(actions), std::move(result),
        [&service = service_, call] {
            const app::Created created = take(service.create_instance(*call));
            const bool managed = !created.instance.quotas.empty();
            return std::tuple(managed ? path_of(created.instance.id) : sdbus::ObjectPath("/"),
                              quotas_of(service.node(), created.instance), created.link_folder,
                              created.warnings);
        },
        {}, before);
}

void ManagerObject::AdmitUnmanaged(sdbus::Result<bool>&& result, std::string id, std::string name,
                                   std::vector<std::string> gpus, OptionMap options) {
    const auto caller = caller_of(getObject(), service_, "AdmitUnmanaged");
    const auto before = [&service = service_, caller](auto done) {
        service.prepare(app::owner_of_new(caller, {}, {}), std::move(done));
    };
    when_permitted(
        authority_, std::vector{Action::run}, getObject(), kAdmit, std::move(result),
        [&unmanaged = unmanaged_, id, name, gpus, caller, options] {
            return take(unmanaged.admit(id, name, gpus, caller, take(read_options(options))));
        },
        {}, before);
}

void ManagerObject::Attach(sdbus::Result<>&& result, std::string id, std::uint32_t pid, OptionMap options) {
    auto caller = caller_of(getObject(), service_, "Attach");
    // Now, because once polkit has answered, the pid may be another process's.
    const auto process = guarded("Attach", [&] { return take(service_.identify(take(to_pid(pid)))); });
    caller.own_only = service_.is_own(id, caller) && service_.is_own(process, caller);
    when_permitted(authority_, action_for(caller), getObject(), {"Attach", is_dry_run(options)},
                   std::move(result),
                   [&service = service_, &unmanaged = unmanaged_, id, process, caller, options] {
                       // One that books its GPUs is an instance, too.
                       if (unmanaged.attach(id, process, caller) && unmanaged.has(id)) return;
                       take(service.attach(id, process, caller, take(read_options(options))));
                   });
}

void ManagerObject::ReleaseInstance(sdbus::Result<>&& result, std::string id, OptionMap options) {
    auto caller = caller_of(getObject(), service_, "ReleaseInstance");
    caller.own_only = service_.may_withdraw(id, caller) && unmanaged_.may_withdraw(id, caller);
    when_permitted(authority_, action_for(caller), getObject(), {"ReleaseInstance", is_dry_run(options)},
                   std::move(result), [&service = service_, &unmanaged = unmanaged_, id, caller, options] {
                       const auto read = take(read_options(options));
                       // One that books its GPUs is an instance, too.
                       if (!unmanaged.has(id)) take(service.release_instance(id, caller, read));
                       take(unmanaged.release(id, caller, read));
                   });
}

void ManagerObject::Forget(sdbus::Result<>&& result, std::string name, OptionMap options) {
    when_permitted(authority_, Action::manage_instance, getObject(), {"Forget", is_dry_run(options)},
                   std::move(result), [&service = service_, name, options](const app::Who& who) {
                       const auto read = take(read_forget_options(options));
                       take(service.forget(name, read.owner, by(who, read.options)));
                   });
}

void ManagerObject::Extend(sdbus::Result<>&& result, std::string instance, std::uint64_t seconds,
                           OptionMap options) {
    const auto caller = guarded("Extend", [&] { return authority_.caller_of(getObject()); });
    const auto id = guarded("Extend", [&] {
        return take(service_.find_timed(instance, {caller.uid, true}));
    });
    const bool own = service_.owner_of_timed(id).user == caller.uid;
    const std::vector actions{own ? Action::manage_own : Action::manage_instance};
    when_permitted(
        authority_, actions, getObject(), {"Extend", is_dry_run(options)}, std::move(result),
        [&service = service_, id, seconds, options, actions](const app::Who& who) {
            take(service.extend(id, seconds, as_authorized(take(read_options(options)), actions, who)));
        },
        {}, [&service = service_, id](auto done) { service.prepare_extend(id, std::move(done)); });
}

void ManagerObject::SetDefaultMemory(sdbus::Result<>&& result, std::uint64_t bytes, OptionMap options) {
    when_permitted(authority_, Action::manage_policy, getObject(), {"SetDefaultMemory", is_dry_run(options)},
                   std::move(result), [&service = service_, bytes, options](const app::Who& who) {
                       take(service.set_default_memory(
                           model::Bytes(bytes), by(who, take(read_options(options, {.runtime = true})))));
                   });
}

void ManagerObject::RevertDefaultMemory(sdbus::Result<>&& result, OptionMap options) {
    when_permitted(authority_, Action::manage_policy, getObject(),
                   {"RevertDefaultMemory", is_dry_run(options)}, std::move(result),
                   [&service = service_, options](const app::Who& who) {
                       take(service.set_default_memory(std::nullopt, by(who, take(read_options(options)))));
                   });
}

void ManagerObject::Apply(sdbus::Result<std::uint64_t>&& result, std::vector<OptionMap> changes,
                          OptionMap options) {
    const auto read = guarded("Apply", [&] { return take(read_changes(changes)); });
    const auto caller = guarded("Apply", [&] { return authority_.caller_of(getObject()); });
    const auto actions = actions_for(read, service_.node(), caller.uid);
    when_permitted(
        authority_, actions, getObject(), {method_of(read), is_dry_run(options)}, std::move(result),
        [&service = service_, read, options, actions](const app::Who& who) {
            constexpr Known kOfAll{.force = true, .persist = true, .runtime = true};
            return take(service.changes().apply(
                read, as_authorized(take(read_options(options, kOfAll)), actions, who)));
        },
        changed_by(read, service_, caller.uid));
}

std::string ManagerObject::Describe() {
    return guarded("Describe", [&] {
        const auto [usage, age] = usage_.of_node(getObject());
        return view::node_text(describe_node(service_, upgrader_, unmanaged_, told_, usage, age));
    });
}

void ManagerObject::DescribeLimits(sdbus::Result<std::string>&& result, std::string user) {
    const auto caller = guarded("DescribeLimits", [&] { return authority_.caller_of(getObject()); });
    const auto reply = std::make_shared<sdbus::Result<std::string>>(std::move(result));
    service_.describe_limits(user, caller.uid, [reply](const app::Result<view::Limits>& limits) {
        // No exception may leave this function: the loop calls it.
        try {
            if (limits)
                reply->returnResults(view::limits_text(*limits));
            else
                reply->returnError(to_bus_error(limits.error()));
        } catch (const std::exception& error) {
            log::warn("DescribeLimits: its caller can't be answered: {}", error.what());
        }
    });
}

std::string ManagerObject::DescribeGpus() {
    return guarded("DescribeGpus", [&] { return view::gpus_text(told_.gpus); });
}

compat::UsageOfNode ManagerObject::GetUsage() {
    return guarded("GetUsage", [&] {
        const auto [node, age] = usage_.of_node(getObject());
        return usage_of(node, age);
    });
}

sdbus::UnixFd ManagerObject::hand_out(const char* method, app::HistoryStore& store) {
    return guarded(method, [&] {
        const auto caller = authority_.caller_of(getObject());
        take(handed_out_.room_for(method, caller));
        sdbus::UnixFd file(take(store.open_for_reading()), sdbus::adopt_fd);
        handed_out_.add(caller);
        return file;
    });
}

sdbus::UnixFd ManagerObject::OpenHistory() { return hand_out("OpenHistory", examined_.history); }

sdbus::UnixFd ManagerObject::OpenDailyHistory() { return hand_out("OpenDailyHistory", examined_.days); }

void ManagerObject::FindGpu(sdbus::Result<sdbus::ObjectPath>&& result, std::string gpu) {
    find_gpu(authority_, service_, std::make_shared<sdbus::Result<sdbus::ObjectPath>>(std::move(result)),
             gpu);
}

void ManagerObject::find_gpu(Authority& authority, app::Service& service,
                             const std::shared_ptr<sdbus::Result<sdbus::ObjectPath>>& result,
                             const std::string& gpu) {
    const auto found = service.find_gpu(gpu);
    const auto again = [&authority, &service, result, gpu] { find_gpu(authority, service, result, gpu); };
    if (!found && authority.tries_again(found.error(), again)) return;
    try {
        result->returnResults(guarded("FindGpu", [&] { return path_of(take(found)); }));
    } catch (const sdbus::Error& error) {
        result->returnError(error);
    }
}

sdbus::ObjectPath ManagerObject::FindInstance(const std::string& instance) {
    return guarded("FindInstance", [&] {
        const app::Naming naming{authority_.caller_of(getObject()).uid};
        return path_of(take(service_.find_instance(instance, naming)));
    });
}

void ManagerObject::upgrade(upgrade::Kind kind, const char* method, Begun&& result,
                            const std::string& version, const OptionMap& options) {
    when_permitted(authority_, Action::upgrade_module, getObject(), {method, is_dry_run(options)},
                   std::move(result), [&upgrader = upgrader_, kind, version, options](const app::Who& who) {
                       return path_of_begun(take(
                           upgrader.begin(kind, version, by(who, take(read_job_options(options, kind))))));
                   });
}

void ManagerObject::UpgradeHot(Begun&& result, std::string version, OptionMap options) {
    upgrade(upgrade::Kind::hot, "UpgradeHot", std::move(result), version, options);
}

void ManagerObject::UpgradeCold(Begun&& result, std::string version, OptionMap options) {
    upgrade(upgrade::Kind::cold, "UpgradeCold", std::move(result), version, options);
}

std::vector<std::string> ManagerObject::ModulesInstalled() {
    std::vector<std::string> versions;
    for (const auto& manifest : upgrader_.installed()) versions.push_back(manifest.version.str());
    return versions;
}

void ManagerObject::Examine(sdbus::Result<Facts>&& result) {
    const bool is_root = guarded("Examine", [&] { return usage_.is_root(getObject()); });
    std::shared_ptr<const void> waiting;
    if (!is_root) {
        if (const auto* last = examinations_->last(usage_.now(), SharedUsage::kRenewedAfter))
            return result.returnResults(*last);
        waiting = examinations_->begin();
        if (!waiting)
            throw to_bus_error({model::Refusal::Reason::busy,
                                "Examine: too many others wait for the driver's answer. Try: try the same "
                                "again in a while."});
    }
    const auto reply = std::make_shared<sdbus::Result<Facts>>(std::move(result));
    examined_.driver.examine([reply, folders = examined_.folders, all = examinations_, is_root, waiting,
                              asked = usage_.now()](const auto& driver) {
        // No exception may leave this function: the loop calls it.
        try {
            const Facts facts = facts_of(folders, driver);
            if (!is_root) all->answered(asked, facts);
            reply->returnResults(facts);
        } catch (const std::exception& error) {
            log::warn("Examine: its caller can't be answered: {}", error.what());
        }
    });
}

std::vector<Entry> ManagerObject::GetConfiguration() {
    return guarded("GetConfiguration", [&] { return entries_of(examined_.configuration()); });
}

void ManagerObject::SetMode(Begun&& result, std::string mode, OptionMap options) {
    when_permitted(authority_, Action::upgrade_module, getObject(), {"SetMode", is_dry_run(options)},
                   std::move(result), [&upgrader = upgrader_, mode, options](const app::Who& who) {
                       return path_of_begun(take(upgrader.begin_mode(
                           mode, by(who, take(read_job_options(options, upgrade::Kind::mode))))));
                   });
}

void ManagerObject::module_changed() { emit_changed(getObject(), {compat::PropertyName("ModuleVersion")}); }

void ManagerObject::mode_changed() {
    emit_changed(getObject(), {compat::PropertyName("Mode"), compat::PropertyName("ModeSource")});
}

void ManagerObject::default_memory_changed() {
    emit_changed(getObject(),
                 {compat::PropertyName("DefaultMemory"), compat::PropertyName("DefaultMemorySource")});
}

void ManagerObject::unmanaged_changed() { emit_changed(getObject(), {compat::PropertyName("Unmanaged")}); }

void ManagerObject::set_configuration_problems(app::ConfigurationProblems problems) {
    if (problems.empty() && told_.configuration_problems.empty()) return;
    told_.configuration_problems = std::move(problems);
    emit_changed(getObject(), {compat::PropertyName("ConfigurationProblems")});
}

void ManagerObject::set_newer_driver_functions(std::vector<std::string> names) {
    if (names == told_.newer_driver_functions) return;
    told_.newer_driver_functions = std::move(names);
    emit_changed(getObject(), {compat::PropertyName("NewerDriverFunctions")});
}

void ManagerObject::happened(const app::Event& event, const app::Stamp& stamp) {
    const std::string type(app::kind_of(event.type).name);
    ++told_.event_counts[type];
    emitEvent(stamp.number, stamp.time_us, type, valid_utf8(event.message), details_of(event));
}

void ManagerObject::job_ended(const upgrade::Ended& ended) {
    emitJobRemoved(ended.id, path_of_job(ended.id), std::string(to_string(ended.result)));
}

}  // namespace cgpu::bus
