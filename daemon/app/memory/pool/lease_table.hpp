#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/app/memory/pool/lease_key.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// The stored part of one lease, in bytes.
struct LeaseAmounts {
    std::uint64_t lease = 0;
    std::uint64_t unsized = 0;

    friend bool operator==(const LeaseAmounts&, const LeaseAmounts&) = default;
};

/// Stands for the processes of a pool whose exported memory may live on without them: its record has these
/// bytes as a lease.
inline const model::Process kNobody{1, 0, {}};

/// Storage of leases that outlives the daemon; store::LeaseFile implements it. It is the only source after a
/// restart: the claims of processes are never used.
class LeaseTable {
  public:
    struct Saved {
        std::size_t place;
        LeaseKey key;
        LeaseAmounts amounts;
    };

    virtual ~LeaseTable() = default;
    /// The records of an earlier daemon.
    [[nodiscard]] virtual std::vector<Saved> saved() const = 0;
    /// Whether records of an earlier daemon can't be read (any more).
    [[nodiscard]] virtual bool damaged() const = 0;
    /// Whether there was none: no earlier daemon, or somebody has removed or emptied it.
    [[nodiscard]] virtual bool is_new() const = 0;
    /// Takes a place for an empty lease. Refused (storage) if the table is full and can't grow.
    virtual Result<std::size_t> add(const LeaseKey& key) = 0;
    /// Each of the two amounts is old or new after a crash, never a mixture.
    virtual void set(std::size_t place, const LeaseAmounts& amounts) = 0;
    virtual void remove(std::size_t place) = 0;

    /// The size of a context on a GPU, as learnt last.
    struct ContextSize {
        model::Uuid gpu;
        std::uint64_t bytes = 0;

        friend bool operator==(const ContextSize&, const ContextSize&) = default;
    };
    [[nodiscard]] virtual std::vector<ContextSize> context_sizes() const = 0;
    /// Not kept if the table can't grow: a later daemon learns it again.
    virtual void set_context_size(const ContextSize& size) = 0;
};

}  // namespace cgpu::app
