#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "daemon/app/events/events.hpp"
#include "daemon/app/memory/pool/lease_key.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// What is done about memory that came without the module, and about processes outside of it. Each value
/// includes the ones before it.
enum class OnEscape {
    report,  ///< a line in the log, and the figure where usage is shown
    refuse,  ///< nothing more is granted to the instance while it lasts, except for what may be a context
    kill,    ///< SIGKILL to the process, except for memory that may be a context or shared
};

/// Makes an event of such a process once when it is found, again when it gets memory, and once when it is
/// gone, and of memory that only descriptors keep; carries out OnEscape::kill.
class Escapes {
  public:
    struct Found {
        LeaseKey key;
        std::uint64_t bytes = 0;  ///< unexplained
        bool outside = false;     ///< it never connected
        bool foreign = false;     ///< the instance has no quota on this GPU
        bool shared = false;      ///< the bytes may be another process's that this one has opened
        bool context = false;     ///< they may be a context's, whose size on this GPU isn't known yet
    };

    Escapes(Processes& processes, Events& events, OnEscape on_escape)
        : processes_(processes), events_(events), on_escape_(on_escape) {}

    /// Memory that descriptors keep, beside all processes.
    struct KeptFound {
        PoolKey pool;
        std::uint64_t bytes = 0;
    };

    /// Call both after each query of a GPU, with everything found on it now.
    void kept(const model::Uuid& gpu, const std::vector<KeptFound>& found);
    void seen(const model::Uuid& gpu, const std::vector<Found>& found);

  private:
    struct KeyLess {
        bool operator()(const LeaseKey& a, const LeaseKey& b) const {
            if (!(a.pool == b.pool)) return std::less<PoolKey>()(a.pool, b.pool);
            return ProcessLess()(a.process, b.process);
        }
    };
    /// What has been logged.
    struct Told {
        bool bytes = false;
        bool outside = false;
        bool kills = false;  ///< the consequence that was named
    };
    [[nodiscard]] static Event event_of(EventType type, log::Level level, const PoolKey& pool,
                                        const std::string& what);
    [[nodiscard]] static Event event_of(EventType type, log::Level level, const LeaseKey& key,
                                        const std::string& what);
    void tell_gone(const LeaseKey& key, const Told& told) const;
    void tell_outside(const Found& found) const;
    void tell_bytes(const Found& found) const;
    void kill(const Found& found, bool first);

    Processes& processes_;
    Events& events_;
    OnEscape on_escape_;
    std::map<LeaseKey, Told, KeyLess> told_;
    std::set<PoolKey> told_kept_;
};

}  // namespace cgpu::app
