#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/events/events.hpp"
#include "daemon/app/ports/tracing.hpp"
#include "daemon/app/ports/usage.hpp"

namespace cgpu::app {

/// The traces under way, at most one of each GPU. The divider of compute makes the records of turns, waits
/// and work; the events and what the instances hold of the GPU's memory are added here. A few times a second,
/// all of them go to the reader.
///
/// A slow reader delays nobody: what it hasn't read is kept up to a bound, and then records are dropped and
/// counted. A trace ends when its time is over, when its reader has ended it or is gone, or with cgpud. Used
/// by the event-loop thread only.
class Traces final : public EventOutlet {
  public:
    struct Outside {
        Loop& loop;
        TracedCompute& compute;
        const UsageSource& usage;
        TraceStreams& streams;
        std::function<const model::Node*()> node;
        std::function<std::uint64_t()> wall_clock;  ///< microseconds since 1970
    };

    static constexpr std::uint32_t kDefaultSeconds = 10;
    static constexpr std::uint32_t kMostSeconds = 3600;
    /// How often records go to the reader …
    static constexpr Nanos kEvery = 20 * kMilli;
    /// … and how often the memory is read.
    static constexpr Nanos kMemoryEvery = 50 * kMilli;
    /// Bytes that wait for the reader. Further records wait in the divider's buffer, which drops what it
    /// can't hold.
    static constexpr std::size_t kMostWaiting = std::size_t{1} << 20;
    /// A trace that has ended waits so long for its reader to take the rest.
    static constexpr Nanos kPatience = 5 * kSecond;

    explicit Traces(Outside outside) : outside_(std::move(outside)) {}
    Traces(const Traces&) = delete;
    Traces& operator=(const Traces&) = delete;

    /// Returns the reader's descriptor, which is the caller's to close. Refused: not_found, invalid (the
    /// seconds), busy (the GPU is traced already), storage.
    Result<int> start(const model::Uuid& gpu, std::uint32_t seconds, const Who& who);
    /// Ends all, because cgpud ends.
    void stop();

    void happened(const Event& event, const Stamp& stamp) override;

  private:
    struct Memory {
        std::uint64_t used = 0, leased = 0, limit = 0, refused = 0;
        bool known = false;
    };
    struct Trace {
        std::unique_ptr<TraceStream> stream;
        Who reader;
        Nanos ends_at = 0;     ///< or, when it has ended, until when the reader is waited for
        bool ended = false;    ///< the last record is among the bytes
        bool is_over = false;  ///< there is nothing more to send, or nobody to send it to
        std::vector<std::byte> bytes;
        std::size_t sent = 0;  ///< of these
        std::vector<trace::Record> spare;
        std::map<model::InstanceId, Memory> memory;
        bool memory_known = false;  ///< it was read before: who isn't in it is new
        Nanos memory_at = 0;        ///< when it is read next
        Nanos cost = 0;
    };

    [[nodiscard]] bool concerns(const Event& event, const model::Uuid& gpu, const Trace& trace) const;
    void tick();
    void advance(const model::Uuid& gpu, Trace& trace, Nanos now);
    void read_memory(const model::Uuid& gpu, Trace& trace, Nanos now);
    void collect(const model::Uuid& gpu, Trace& trace, bool last);
    static void send(Trace& trace);

    Outside outside_;
    std::map<model::Uuid, Trace> traces_;
    WatchPtr next_tick_;
};

}  // namespace cgpu::app
