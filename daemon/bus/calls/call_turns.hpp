#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "daemon/bus/calls/callers.hpp"
#include "daemon/bus/calls/fair_queue.hpp"
#include "dbus/compat.hpp"

struct sd_bus;
struct sd_bus_message;
struct sd_bus_slot;

namespace cgpu::bus {

/// Decides which call is handled next. Without it sd-bus would handle calls in the order of their arrival,
/// and one user's thousand calls would delay everybody's next one; and it would make answers faster than the
/// bus takes them.
///
/// A filter takes every method call that arrives, also those that sd-bus answers itself (GetManagedObjects,
/// GetAll, Introspect), and keeps it until its turn. The bus is asked once who is behind a connection; a call
/// waits for that, too. If the connection is gone by then, its calls are dropped. Calls of a user who has too
/// many waiting are refused (Busy), which costs a small part of what an answer does.
class CallTurns {
  public:
    /// No call is begun while the bus hasn't read more than this of what cgpud has sent it. An answer can be
    /// a hundred times as long, and dbus-daemon reads 2 KiB of it for each 2 KiB that each other connection
    /// sends, so all answers that are made before delay the next one. Bytes, as the kernel counts them.
    static constexpr std::size_t kMostUnread = 24 << 10;
    /// While it hasn't read more than this, calls are dropped that would be refused.
    static constexpr std::size_t kMostUnreadRefusals = 12 << 10;
    /// Of one connection and of all, while the bus is being asked who they are.
    static constexpr std::size_t kMostOfUnknown = 32;
    static constexpr std::size_t kMostOfAllUnknown = 4096;
    static constexpr std::size_t kMostBytesOfUnknown = 4 << 20;

    /// Applies to all calls over this connection. Filters that are added later are called earlier, and see
    /// each call twice: when it arrives, and when it is let through. Both arguments outlive this object.
    /// Throws sdbus::Error.
    CallTurns(sdbus::IConnection& connection, Callers& callers);
    ~CallTurns();
    CallTurns(const CallTurns&) = delete;
    CallTurns& operator=(const CallTurns&) = delete;

    /// Lets the call through whose turn it is: the connection handles it next. False: there is none, the one
    /// before hasn't been handled yet, or the bus hasn't taken the answers.
    bool let_through(model::Nanos now);
    /// Whether a call waits for let_through().
    [[nodiscard]] bool has_waiting() const { return !let_through_ && !waiting_.empty(); }
    /// Whether let_through() would let one through.
    [[nodiscard]] bool is_ready(model::Nanos now) const;
    /// `call` is called for each call that is refused or dropped for being too many.
    void on_too_many(std::function<void()> call) { too_many_ = std::move(call); }

  private:
    struct Unref {
        void operator()(sd_bus_message* message) const;
        void operator()(sd_bus_slot* slot) const;
    };
    using Message = std::unique_ptr<sd_bus_message, Unref>;
    using Slot = std::unique_ptr<sd_bus_slot, Unref>;
    struct Call {
        Message message;
        std::size_t bytes = 0;
    };
    /// A connection whose user the bus was asked for.
    struct Unknown {
        CallTurns& turns;
        std::string name;
        std::deque<Call> calls;
        Slot question;
    };

    int take_in(sd_bus_message* message);
    void ask_for(const std::string& name, Call call);
    void learn(Unknown& unknown, sd_bus_message* answer);
    void line_up(uid_t user, Call call);
    void turn_away(sd_bus_message* message, const std::string& why);
    /// Whether the bus has read all that was sent but so many bytes.
    [[nodiscard]] bool has_read_all_but(std::size_t bytes) const;

    sd_bus* bus_ = nullptr;
    Callers& callers_;
    std::map<std::string, Unknown> unknown_;
    std::size_t calls_of_unknown_ = 0;
    std::size_t bytes_of_unknown_ = 0;
    FairQueue<Message> waiting_;
    Message let_through_;
    std::function<void()> too_many_;
    Slot filter_;
};

}  // namespace cgpu::bus
