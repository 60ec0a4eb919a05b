#pragma once

#include <cstdint>
#include <string_view>

#include "core/wire/message.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/link/connection.hpp"

namespace cgpu::front {

/// The connection to the daemon, as the hooks use it: any thread asks, the service thread reads. While the
/// daemon is away an Ask waits for the reconnect, within its caller's timeout.
class Link {
  public:
    constexpr Link() = default;

    /// Sends an Ask and waits for its Answer. False: none came in time, or the daemon is away and `patient`
    /// is false.
    bool ask(wire::Topic topic, std::uint32_t gpu, std::uint64_t bytes, std::int64_t until_ns, bool patient,
             wire::Answer& answer);
    /// Sends an Ask whose Answer no thread waits for. If the socket is full, because the process says more
    /// than the daemon reads, this waits until there is room, for a second: nothing that is said gets lost,
    /// such as that memory is exported.
    void tell(wire::Topic topic, std::uint32_t gpu, std::uint64_t bytes = 0);
    /// `exported`: they were memory that may live on. False if it could not be sent: then the bytes still
    /// belong to the process.
    bool give(std::uint32_t gpu, std::uint64_t bytes, bool exported = false);
    /// A line for the daemon's log; at most one per second of each kind.
    void notice(wire::Event event, std::uint32_t gpu, std::string_view detail);

    bool connected();

    // For the service thread.
    /// Reports, on a connection that replaces a lost one, how much lease this process has. Call before
    /// attach(): then no answer to an Ask can have changed it.
    static Sent tell_lease(const Descriptor& socket, std::uint32_t gpu, std::uint64_t bytes);
    void attach(const Descriptor& socket);
    /// Reports which engine runs here. Sent::full: try again later.
    Sent tell_engine(const wire::Switched& told);
    /// The connection is gone: closes it and informs the waiting callers.
    void detach();
    Descriptor socket();
    /// Passes an Answer to the thread that waits for it. False: none does (any more).
    bool deliver(const wire::Answer& answer);
    /// The topic of an Answer, by its number alone: the caller may have given up.
    static wire::Topic topic_of(std::uint64_t request);

    void reset_in_child();

  private:
    struct Waiter;
    Sent send_locked(const wire::Ask& ask);

    Mutex mutex_;
    Descriptor socket_;
    Waiter* waiters_ = nullptr;
    std::atomic<std::uint64_t> next_request_{1};
    std::atomic<std::int64_t> last_notice_[8]{};
};

}  // namespace cgpu::front
