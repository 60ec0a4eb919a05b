#include "client/node/bus_snapshot.hpp"

#include <map>
#include <utility>

#include "client/node/bus_connection.hpp"
#include "dbus/json/node_text.hpp"
#include "dbus/names.hpp"

namespace cgpu::client {
namespace {

using Properties = std::map<std::string, sdbus::Variant>;

/// Reads the value if the daemon has it (an older or newer one may not).
template <class T>
void read_into(const Properties& properties, const char* name, T& target) {
    const auto found = properties.find(name);
    if (found != properties.end()) target = found->second.get<T>();
}

template <class T>
void read_into(const Properties& properties, const char* name, std::optional<T>& target) {
    const auto found = properties.find(name);
    if (found != properties.end()) target = found->second.get<T>();
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

}  // namespace

std::vector<Quota> to_quotas(const std::vector<BusQuota>& quotas) {
    std::vector<Quota> out;
    out.reserve(quotas.size());
    for (const BusQuota& quota : quotas)
        out.push_back(
            {quota.get<0>(), quota.get<1>(), quota.get<2>(), quota.get<3>(), quota.get<4>(), std::nullopt});
    return out;
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
    const auto proxy =
        sdbus::createProxy(connection, compat::ServiceName(bus_names::kService), sdbus::ObjectPath(path));
    Properties properties;
    proxy->callMethod("GetAll")
        .onInterface(bus_names::kProperties)
        .withArguments(std::string(JobProxy::INTERFACE_NAME))
        .storeResultsTo(properties);
    return to_job(properties);
}

namespace {

/// Throws what callers of the bus throw.
Snapshot read_text(const std::string& text) {
    auto node = view::read_node_text(text);
    if (node) return std::move(*node);
    throw compat::make_error(bus_names::kFailed,
                             "cgpud's description of the node can't be read: " + node.error() +
                                 ". Try: use the same release of cgpuctl as cgpud's.");
}

}  // namespace

Snapshot read_snapshot(sdbus::IConnection& connection, const std::string& service) {
    auto node = read_text(ManagerProxy(connection, bus_names::kManager, service).Describe());
    // Those are instances already, which say that they aren't managed.
    std::erase_if(node.unmanaged, [](const UnmanagedContainer& each) { return each.booked; });
    return node;
}

std::vector<Gpu> read_gpus(sdbus::IConnection& connection) {
    ManagerProxy manager(connection, bus_names::kManager);
    try {
        return read_text(manager.DescribeGpus()).gpus;
    } catch (const sdbus::Error& error) {
        // A cgpud of an earlier release, until it is restarted.
        if (error.getName() != std::string(bus_names::kBusErrors) + "UnknownMethod") throw;
        return read_text(manager.Describe()).gpus;
    }
}

}  // namespace cgpu::client
