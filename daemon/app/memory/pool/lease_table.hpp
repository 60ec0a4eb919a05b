#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/app/memory/pool/lease_key.hpp"
#include "daemon/app/ports/ports.hpp"

namespace cgpu::app {

/// What is remembered of one lease, in bytes.
struct LeaseAmounts {
    std::uint64_t lease = 0;
    std::uint64_t unsized = 0;

    friend bool operator==(const LeaseAmounts&, const LeaseAmounts&) = default;
};

/// Where leases outlive the daemon (store::LeaseFile is the real one). It is the only source after a restart:
/// what processes claim to have is never asked.
class LeaseTable {
  public:
    struct Saved {
        std::size_t place;
        LeaseKey key;
        LeaseAmounts amounts;
    };

    virtual ~LeaseTable() = default;
    /// What an earlier daemon left.
    [[nodiscard]] virtual std::vector<Saved> saved() const = 0;
    /// Whether an earlier daemon left something that can't be read (any more).
    [[nodiscard]] virtual bool damaged() const = 0;
    /// Takes a place for a lease of nothing. Refused (storage) where the table is full and can't grow.
    virtual Result<std::size_t> add(const LeaseKey& key) = 0;
    /// Each of the two amounts is old or new after a crash, never a mixture.
    virtual void set(std::size_t place, const LeaseAmounts& amounts) = 0;
    virtual void remove(std::size_t place) = 0;

    /// What a context takes on a GPU, as learnt last.
    struct ContextSize {
        model::Uuid gpu;
        std::uint64_t bytes = 0;

        friend bool operator==(const ContextSize&, const ContextSize&) = default;
    };
    [[nodiscard]] virtual std::vector<ContextSize> context_sizes() const = 0;
    /// Not kept where the table can't grow: a later daemon learns it anew.
    virtual void set_context_size(const ContextSize& size) = 0;
};

}  // namespace cgpu::app
