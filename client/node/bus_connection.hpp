#pragma once

#include <memory>
#include <string>

#include "client/node/bus_errors.hpp"
#include "dbus/compat.hpp"
#include "dbus/generated/gpu_proxy.hpp"
#include "dbus/generated/instance_proxy.hpp"
#include "dbus/generated/job_proxy.hpp"
#include "dbus/generated/manager_proxy.hpp"
#include "dbus/names.hpp"

/// The generated proxies on one connection. Only this room includes them.
namespace cgpu::client {

/// A proxy with a public constructor. It shares the connection: one of its own would cost a thread. `service`
/// may also be the unique name of a connection.
///
/// It isn't registered, and so has no signals: nobody reads the shared connection between two calls, and what
/// comes on it unasked would fill the memory of this process, or the bus's, for as long as the node works.
template <class Interface>
class Proxy final : public sdbus::ProxyInterfaces<Interface> {
  public:
    Proxy(sdbus::IConnection& connection, const std::string& path,
          const std::string& service = bus_names::kService)
        : sdbus::ProxyInterfaces<Interface>(connection, compat::ServiceName(service),
                                            sdbus::ObjectPath(path)) {}
    ~Proxy() = default;
    [[nodiscard]] sdbus::IProxy& proxy() { return this->getProxy(); }
    Proxy(const Proxy&) = delete;
    Proxy& operator=(const Proxy&) = delete;
};

/// BusJobWatch receives the signals of jobs.
class QuietManager : public org::cgpu1::Manager_proxy {
  protected:
    using org::cgpu1::Manager_proxy::Manager_proxy;
    ~QuietManager() = default;
    void onJobRemoved(const std::uint64_t&, const sdbus::ObjectPath&, const std::string&) override {}
    void onEvent(const std::uint64_t&, const std::uint64_t&, const std::string&, const std::string&,
                 const std::map<std::string, sdbus::Variant>&) override {}
};

/// No client here uses the errors of GPUs.
class QuietGpu : public org::cgpu1::Gpu_proxy {
  protected:
    using org::cgpu1::Gpu_proxy::Gpu_proxy;
    ~QuietGpu() = default;
    void onXidError(const std::uint64_t&, const std::string&) override {}
};

using ManagerProxy = Proxy<QuietManager>;
using JobProxy = Proxy<org::cgpu1::Job_proxy>;
using GpuProxy = Proxy<QuietGpu>;
using InstanceProxy = Proxy<org::cgpu1::Instance_proxy>;

/// Runs `body` and turns the exceptions of sdbus-c++ into errors.
template <class Body>
auto call(Body body) -> Result<decltype(body())> {
    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return {};
        } else {
            return body();
        }
    } catch (const sdbus::Error& error) {
        return tl::unexpected(from_bus(error.getName(), error.getMessage()));
    }
}

}  // namespace cgpu::client
