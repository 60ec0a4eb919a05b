#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "daemon/app/ports/ports.hpp"
#include "dbus/caller.hpp"

struct sd_bus;
struct sd_bus_message;
struct sd_bus_slot;

namespace cgpu::bus {

/// Bounds the answers with descriptors that may lie unread in the queues of callers: dbus-daemon reads
/// nothing more from a service while 64 descriptors of it do. Nothing tells whether a caller has read its
/// answer, so each counts until the caller's connection is gone; a caller can't forge that.
class HandedOut {
  public:
    /// Of one connection, of one user, and of all users but root. Root could stop cgpud anyway.
    static constexpr std::size_t kMostOfConnection = 4;
    static constexpr std::size_t kMostOfOneUser = 8;
    static constexpr std::size_t kMostOfOthers = 32;

    /// The connection outlives this object.
    explicit HandedOut(sdbus::IConnection& connection);
    HandedOut(const HandedOut&) = delete;
    HandedOut& operator=(const HandedOut&) = delete;

    /// Whether the caller may get one more. Refused: busy; `method` is named in it.
    [[nodiscard]] app::Result<void> room_for(const std::string& method, const compat::Caller& caller) const;
    /// The caller gets one. Throws sdbus::Error if the bus can't be asked to tell of the connection's end.
    void add(const compat::Caller& caller);

  private:
    struct Unref {
        void operator()(sd_bus_slot* slot) const;
    };
    using Slot = std::unique_ptr<sd_bus_slot, Unref>;
    struct Receiver {
        HandedOut& all;
        std::string name;  ///< of the connection
        uid_t user = 0;
        std::size_t count = 0;
        Slot end;  ///< the bus tells of the connection's end
        Slot question;
    };

    void watch(Receiver& receiver);
    void forget(const std::string& name) { receivers_.erase(name); }

    sd_bus* bus_ = nullptr;
    std::map<std::string, Receiver> receivers_;  ///< by the connection's name
};

}  // namespace cgpu::bus
