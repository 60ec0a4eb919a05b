#pragma once

#include <memory>

#include "client/node/values/client_error.hpp"
#include "client/node/values/snapshot.hpp"

namespace cgpu::client {

/// Reads the daemon's node for a program that watches it. It never starts cgpud: an administrator who has
/// stopped it wants it to stay stopped. Connects to the bus when it is needed, and again after an error.
class BusReader {
  public:
    BusReader();
    ~BusReader();

    /// Waits for each answer for a few seconds at most, then the error is of kind unreachable.
    Result<Snapshot> read();

  private:
    struct Bus;
    std::unique_ptr<Bus> bus_;
};

}  // namespace cgpu::client
