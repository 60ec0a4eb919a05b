#pragma once

#include <string>

namespace cgpu::app {

/// Keeps descriptors for the daemon that starts after this one. It may not be able to: who needs one must
/// have an answer for that.
class DescriptorStore {
  public:
    virtual ~DescriptorStore() = default;
    /// Keeps what the descriptor is open on; the descriptor stays the caller's. `name`: at most 255 printable
    /// characters, without a colon.
    virtual void keep(const std::string& name, int fd) = 0;
    virtual void forget(const std::string& name) = 0;
    /// What an earlier daemon kept under this name, from now on the caller's; -1 where there is nothing. It
    /// stays kept.
    virtual int take(const std::string& name) = 0;
};

}  // namespace cgpu::app
