#pragma once

#include <string>

namespace cgpu::app {

/// Keeps descriptors for the next daemon. It may be unable to: a caller that needs a descriptor must be able
/// to go on without it.
class DescriptorStore {
  public:
    virtual ~DescriptorStore() = default;
    /// Keeps a duplicate; the descriptor stays the caller's. `name`: at most 255 printable characters,
    /// without a colon.
    virtual void keep(const std::string& name, int fd) = 0;
    virtual void forget(const std::string& name) = 0;
    /// The descriptor that an earlier daemon kept under this name, now owned by the caller; -1 if there is
    /// none. It stays stored.
    virtual int take(const std::string& name) = 0;
};

}  // namespace cgpu::app
