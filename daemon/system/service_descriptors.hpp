#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "daemon/app/ports/descriptor_store.hpp"

namespace cgpu::system {

/// The maximum number of descriptors of this process.
[[nodiscard]] std::size_t descriptor_limit();

/// systemd's descriptor store: it survives a restart or crash of the daemon, but not a stop. No effect if
/// NOTIFY_SOCKET isn't set.
class ServiceDescriptors final : public app::DescriptorStore {
  public:
    /// Takes over the descriptors that systemd passed to this process. One object at a time.
    ServiceDescriptors();
    ~ServiceDescriptors() override;
    ServiceDescriptors(const ServiceDescriptors&) = delete;
    ServiceDescriptors& operator=(const ServiceDescriptors&) = delete;

    void keep(const std::string& name, int fd) override;
    void forget(const std::string& name) override;
    int take(const std::string& name) override;
    /// Drops all passed descriptors that were not taken.
    void forget_rest();

  private:
    std::map<std::string, int> handed_;
};

}  // namespace cgpu::system
