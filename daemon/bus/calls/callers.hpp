#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "dbus/caller.hpp"

namespace cgpu::bus {

/// Who is behind the connections that have called lately. A bus gives no connection the name of an earlier
/// one, and says of each what it was when it was made, so an entry never becomes wrong.
class Callers {
  public:
    /// The maximum number of connections that are remembered; the oldest one is forgotten first.
    static constexpr std::size_t kMost = 1024;

    [[nodiscard]] std::optional<compat::Credentials> find(const std::string& connection) const;
    void add(const std::string& connection, const compat::Credentials& credentials);

    /// Whoever sent the message that `object` works on now; the bus's word, never the message's. Asks the
    /// bus, and waits for its answer, if it isn't known. Throws sdbus::Error if the caller is gone.
    [[nodiscard]] compat::Caller caller_of(const sdbus::IObject& object);

  private:
    std::map<std::string, compat::Credentials> known_;
    std::deque<std::string> by_age_;
};

}  // namespace cgpu::bus
