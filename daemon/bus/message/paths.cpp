#include "daemon/bus/message/paths.hpp"

#include <cstdlib>
#include <memory>
#include <new>

#include <systemd/sd-bus.h>

#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

struct Free {
    void operator()(char* text) const { std::free(text); }
};

sdbus::ObjectPath encode(const char* prefix, const std::string& name) {
    char* encoded = nullptr;
    // Prefix and name are valid by construction, so the only possible failure is a lack of memory.
    if (sd_bus_path_encode(prefix, name.c_str(), &encoded) < 0) throw std::bad_alloc();
    const std::unique_ptr<char, Free> owner(encoded);
    return sdbus::ObjectPath(std::string(encoded));
}

}  // namespace

sdbus::ObjectPath path_of(const model::Uuid& gpu) { return encode(bus_names::kGpus, gpu.to_string()); }

sdbus::ObjectPath path_of(const model::InstanceId& instance) {
    return encode(bus_names::kInstances, instance.str());
}

sdbus::ObjectPath path_of_job(std::uint64_t id) {
    return sdbus::ObjectPath(std::string(bus_names::kJobs) + "/" + std::to_string(id));
}

}  // namespace cgpu::bus
