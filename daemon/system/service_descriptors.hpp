#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "daemon/app/ports/descriptor_store.hpp"

namespace cgpu::system {

/// How many descriptors this process may have.
[[nodiscard]] std::size_t descriptor_limit();

/// systemd's descriptor store: it outlives a daemon that is restarted or crashes, though not one that is
/// stopped. Without effect where NOTIFY_SOCKET isn't set.
class ServiceDescriptors final : public app::DescriptorStore {
  public:
    /// Takes over what systemd has handed to this process. One at a time.
    ServiceDescriptors();
    ~ServiceDescriptors() override;
    ServiceDescriptors(const ServiceDescriptors&) = delete;
    ServiceDescriptors& operator=(const ServiceDescriptors&) = delete;

    void keep(const std::string& name, int fd) override;
    void forget(const std::string& name) override;
    int take(const std::string& name) override;
    /// Of what was handed over, all that nobody has taken.
    void forget_rest();

  private:
    std::map<std::string, int> handed_;
};

}  // namespace cgpu::system
