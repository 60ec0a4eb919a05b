#include "client/node/bus_snapshot.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "client/node/bus_connection.hpp"
#include "dbus/names.hpp"
#include "dbus/usage.hpp"

namespace cgpu::client {
namespace {

using Properties = std::map<std::string, sdbus::Variant>;
using Objects = std::map<sdbus::ObjectPath, std::map<std::string, Properties>>;

using compat::UsageOfNode;
using compat::UsageOnGpu;

/// Reads the value if the daemon has it (an older or newer one may not).
template <class T>
void read_into(const Properties& properties, const char* name, T& target) {
    const auto found = properties.find(name);
    if (found != properties.end()) target = found->second.get<T>();
}

template <class T, class Target>
void read_into(const std::map<std::string, T>& figures, const char* name, Target& target) {
    const auto found = figures.find(name);
    if (found != figures.end()) target = found->second;
}

template <class T>
void read_into(const Properties& properties, const char* name, std::optional<T>& target) {
    const auto found = properties.find(name);
    if (found != properties.end()) target = found->second.get<T>();
}

Objects managed_objects(sdbus::IConnection& connection, const std::string& service) {
    const auto proxy =
        sdbus::createProxy(connection, compat::ServiceName(service), sdbus::ObjectPath(bus_names::kManager));
    Objects objects;
    proxy->callMethod("GetManagedObjects").onInterface(bus_names::kObjectManager).storeResultsTo(objects);
    return objects;
}

Properties properties_of(sdbus::IConnection& connection, const std::string& path,
                         const std::string& interface, const std::string& service = bus_names::kService) {
    const auto proxy = sdbus::createProxy(connection, compat::ServiceName(service), sdbus::ObjectPath(path));
    Properties properties;
    proxy->callMethod("GetAll")
        .onInterface(bus_names::kProperties)
        .withArguments(interface)
        .storeResultsTo(properties);
    return properties;
}

std::vector<ConfigurationProblem> to_problems(const std::vector<Properties>& entries) {
    std::vector<ConfigurationProblem> all;
    for (const Properties& entry : entries) {
        ConfigurationProblem& problem = all.emplace_back();
        read_into(entry, "file", problem.file);
        read_into(entry, "line", problem.line);
        read_into(entry, "message", problem.message);
        read_into(entry, "since", problem.since);
    }
    return all;
}

Gpu to_gpu(const Properties& properties) {
    Gpu gpu;
    read_into(properties, "Uuid", gpu.uuid);
    read_into(properties, "Index", gpu.index);
    read_into(properties, "Model", gpu.model);
    read_into(properties, "Present", gpu.present);
    read_into(properties, "Obstacle", gpu.obstacle);
    read_into(properties, "MemoryTotal", gpu.memory_total);
    read_into(properties, "MemoryAllocated", gpu.memory_allocated);
    read_into(properties, "Policy", gpu.policy);
    read_into(properties, "PolicyName", gpu.policy_name);
    read_into(properties, "MaxInst", gpu.max_inst);
    read_into(properties, "FreeWeight", gpu.free_weight);
    read_into(properties, "PrioRatio", gpu.prio_ratio);
    read_into(properties, "Mode", gpu.mode);
    return gpu;
}

Usage to_usage(const UsageOnGpu& its) {
    const auto& figures = its.get<0>();
    const auto& shares = its.get<1>();
    Usage usage;
    read_into(figures, "memory-used", usage.memory_used);
    read_into(figures, "memory-leased", usage.memory_leased);
    read_into(figures, "memory-peak", usage.memory_peak);
    read_into(figures, "memory-unexplained", usage.memory_unexplained);
    read_into(figures, "allocations-refused", usage.allocations_refused);
    read_into(figures, "gpu-time", usage.gpu_time);
    read_into(figures, "waited", usage.waited);
    read_into(figures, "longest-kernel", usage.longest_kernel);
    read_into(figures, "launches", usage.launches);
    read_into(figures, "preemptions", usage.preemptions);
    for (const auto& [name, most] : compat::kWaitFigures) {
        auto& waits = usage.launch_waits.emplace_back(Waits{most, 0});
        read_into(figures, name, waits.launches);
    }
    read_into(figures, compat::kWaitTimeFigure, usage.launch_waits_time);
    read_into(shares, "target-share", usage.target_share);
    read_into(shares, "achieved-share", usage.achieved_share);
    read_into(shares, "compute-unexplained", usage.compute_unexplained);
    usage.processes = its.get<2>();
    for (const auto& process : its.get<3>())
        usage.memory_of_processes.emplace(process.get<0>(), process.get<1>());
    usage.processes_outside = its.get<4>();
    return usage;
}

Instance to_instance(const Properties& properties, const std::map<std::string, UsageOnGpu>& figures) {
    Instance instance;
    read_into(properties, "Id", instance.id);
    read_into(properties, "Name", instance.name);
    read_into(properties, "Image", instance.image);
    read_into(properties, "State", instance.state);
    read_into(properties, "Created", instance.created);
    read_into(properties, "Pid", instance.pid);
    read_into(properties, "ModuleVersion", instance.module_version);
    read_into(properties, "WithoutDriver", instance.without_driver);
    std::vector<BusQuota> quotas;
    read_into(properties, "Quotas", quotas);
    std::map<std::string, std::uint32_t> percentages;
    read_into(properties, "Percentages", percentages);
    for (Quota& quota : to_quotas(quotas)) {
        if (const auto asked = percentages.find(quota.gpu); asked != percentages.end())
            quota.percent = asked->second;
        const auto found = figures.find(quota.gpu);
        const Usage usage = found == figures.end() ? Usage{} : to_usage(found->second);
        instance.gpus.push_back({std::move(quota), usage});
    }
    for (const auto& [uuid, each] : figures)
        if (each.get<0>().contains("foreign")) instance.foreign_gpus.push_back({uuid, 0, to_usage(each)});
    return instance;
}

/// Those that book GPUs are instances already: they are marked there.
void add_unmanaged(Snapshot& snapshot, const std::vector<Properties>& entries) {
    for (const Properties& entry : entries) {
        UnmanagedContainer container;
        read_into(entry, "id", container.id);
        read_into(entry, "name", container.name);
        read_into(entry, "created", container.created);
        read_into(entry, "pid", container.pid);
        read_into(entry, "gpus", container.gpus);
        read_into(entry, "memory", container.memory);
        const auto instance = std::find_if(snapshot.instances.begin(), snapshot.instances.end(),
                                           [&](const Instance& each) { return each.id == container.id; });
        if (instance == snapshot.instances.end()) {
            snapshot.unmanaged.push_back(std::move(container));
            continue;
        }
        instance->managed = false;
        for (OnGpu& place : instance->gpus)
            if (const auto held = container.memory.find(place.quota.gpu); held != container.memory.end())
                place.usage.memory_used = held->second;
    }
}

/// GetUsage names them by UUID only.
void number_foreign_gpus(Snapshot& snapshot) {
    for (Instance& instance : snapshot.instances)
        for (ForeignGpu& foreign : instance.foreign_gpus)
            for (const Gpu& gpu : snapshot.gpus)
                if (gpu.uuid == foreign.uuid) foreign.index = gpu.index;
}

Job to_job(const Properties& properties) {
    Job job;
    read_into(properties, "Id", job.id);
    read_into(properties, "Kind", job.kind);
    read_into(properties, "From", job.from);
    read_into(properties, "Target", job.target);
    read_into(properties, "State", job.state);
    sdbus::Struct<std::uint32_t, std::uint32_t> progress;
    read_into(properties, "Progress", progress);
    job.done = progress.get<0>();
    job.all = progress.get<1>();
    read_into(properties, "Message", job.message);
    read_into(properties, "Result", job.result);
    return job;
}

void sort_gpus(std::vector<Gpu>& gpus) {
    std::sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) {
        return std::tuple(!a.present, a.index, a.uuid) < std::tuple(!b.present, b.index, b.uuid);
    });
}

void add_gpu(Snapshot& snapshot, const Properties& properties, const UsageOfNode& usage) {
    Gpu gpu = to_gpu(properties);
    const auto& of_gpus = std::get<0>(usage);
    if (const auto its = of_gpus.find(gpu.uuid); its != of_gpus.end()) {
        read_into(its->second, "memory-used", gpu.memory_used);
        read_into(its->second, "memory-leased", gpu.memory_leased);
        read_into(its->second, "memory-in-driver", gpu.memory_in_driver);
        read_into(its->second, "memory-charged-then", gpu.memory_charged_then);
        read_into(its->second, "xid-errors", gpu.xid_errors);
        read_into(its->second, "last-xid", gpu.last_xid);
        std::optional<std::uint64_t> strangers;
        read_into(its->second, "strangers-per-mille", strangers);
        if (strangers) gpu.strangers = static_cast<double>(*strangers) / 1000;
        read_into(its->second, "strangers-process", gpu.strangers_process);
        read_into(its->second, compat::kAgeFigure, snapshot.usage_age);
    }
    snapshot.gpus.push_back(std::move(gpu));
}

/// One that has ended since the objects were read is left out.
void add_instance(Snapshot& snapshot, const Properties& properties, const UsageOfNode& usage) {
    std::string id;
    read_into(properties, "Id", id);
    const auto& of_instances = std::get<1>(usage);
    if (const auto its = of_instances.find(id); its != of_instances.end())
        snapshot.instances.push_back(to_instance(properties, its->second));
}

}  // namespace

std::vector<Quota> to_quotas(const std::vector<BusQuota>& quotas) {
    std::vector<Quota> out;
    out.reserve(quotas.size());
    for (const BusQuota& quota : quotas)
        out.push_back(
            {quota.get<0>(), quota.get<1>(), quota.get<2>(), quota.get<3>(), quota.get<4>(), std::nullopt});
    return out;
}

std::vector<Kept> to_kept(const std::vector<Properties>& entries) {
    std::vector<Kept> all;
    for (const Properties& entry : entries) {
        Kept& kept = all.emplace_back();
        read_into(entry, "owner", kept.owner);
        read_into(entry, "name", kept.name);
        read_into(entry, "device", kept.device);
        read_into(entry, "memory-limit", kept.memory_limit);
        read_into(entry, "weight", kept.weight);
        read_into(entry, "high-priority", kept.high_priority);
    }
    return all;
}

std::vector<ConfigurationValue> to_configuration(const std::vector<Properties>& entries) {
    std::vector<ConfigurationValue> all;
    for (const Properties& entry : entries) {
        ConfigurationValue& value = all.emplace_back();
        read_into(entry, "key", value.key);
        read_into(entry, "value", value.value);
        read_into(entry, "source", value.source);
        read_into(entry, "configured", value.configured);
        read_into(entry, "configured-source", value.configured_source);
        read_into(entry, "remedy", value.remedy);
    }
    return all;
}

Examination to_examination(const Properties& facts) {
    Examination found;
    read_into(facts, "state-dir", found.state_dir);
    read_into(facts, "runtime-dir", found.runtime_dir);
    read_into(facts, "module-dir", found.module_dir);
    read_into(facts, "driver-error", found.driver_error);
    read_into(facts, "driver-version", found.driver_version);
    std::vector<Properties> gpus;
    read_into(facts, "gpus", gpus);
    for (const Properties& each : gpus) {
        ExaminedGpu& gpu = found.gpus.emplace_back();
        read_into(each, "uuid", gpu.uuid);
        read_into(each, "persistence", gpu.persistence);
        read_into(each, "driver-limits", gpu.limits.backend);
        read_into(each, "driver-limits-why", gpu.limits.why_none);
        read_into(each, "driver-limits-own", gpu.limits.own_limit);
        std::vector<sdbus::Struct<std::uint32_t, std::uint64_t>> processes;
        read_into(each, "processes", processes);
        for (const auto& process : processes) gpu.processes.push_back({process.get<0>(), process.get<1>()});
    }
    return found;
}

Job read_job(sdbus::IConnection& connection, const std::string& path) {
    return to_job(properties_of(connection, path, JobProxy::INTERFACE_NAME));
}

std::vector<Gpu> read_gpus(sdbus::IConnection& connection) {
    std::vector<Gpu> gpus;
    for (const auto& [path, interfaces] : managed_objects(connection, bus_names::kService))
        if (const auto gpu = interfaces.find(GpuProxy::INTERFACE_NAME); gpu != interfaces.end())
            gpus.push_back(to_gpu(gpu->second));
    sort_gpus(gpus);
    return gpus;
}

Snapshot read_snapshot(sdbus::IConnection& connection, const std::string& service) {
    Snapshot snapshot;
    const auto manager =
        properties_of(connection, bus_names::kManager, ManagerProxy::INTERFACE_NAME, service);
    read_into(manager, "Version", snapshot.version);
    read_into(manager, "ModuleVersion", snapshot.module_version);
    read_into(manager, "ModulesInstalled", snapshot.modules_installed);
    read_into(manager, "Mode", snapshot.mode);
    std::string mode_source;
    read_into(manager, "ModeSource", mode_source);
    snapshot.mode_is_switched = mode_source == "switched";
    read_into(manager, "DefaultMemory", snapshot.default_memory);
    std::string memory_source;
    read_into(manager, "DefaultMemorySource", memory_source);
    snapshot.default_memory_is_set = memory_source == "set";
    std::vector<Properties> problems;
    read_into(manager, "ConfigurationProblems", problems);
    snapshot.configuration_problems = to_problems(problems);
    std::vector<Properties> unmanaged;
    read_into(manager, "Unmanaged", unmanaged);
    read_into(manager, "NewerDriverFunctions", snapshot.newer_driver_functions);
    read_into(manager, "EventCounts", snapshot.event_counts);
    const auto objects = managed_objects(connection, service);
    const UsageOfNode usage = ManagerProxy(connection, bus_names::kManager, service).GetUsage();
    for (const auto& [path, interfaces] : objects) {
        if (const auto gpu = interfaces.find(GpuProxy::INTERFACE_NAME); gpu != interfaces.end())
            add_gpu(snapshot, gpu->second, usage);
        if (const auto instance = interfaces.find(InstanceProxy::INTERFACE_NAME);
            instance != interfaces.end())
            add_instance(snapshot, instance->second, usage);
        if (const auto job = interfaces.find(JobProxy::INTERFACE_NAME); job != interfaces.end())
            snapshot.job = to_job(job->second);
    }
    add_unmanaged(snapshot, unmanaged);
    number_foreign_gpus(snapshot);
    sort_gpus(snapshot.gpus);
    std::sort(snapshot.instances.begin(), snapshot.instances.end(), [](const Instance& a, const Instance& b) {
        return std::tie(a.created, a.id) < std::tie(b.created, b.id);
    });
    return snapshot;
}

}  // namespace cgpu::client
