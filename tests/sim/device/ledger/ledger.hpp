#pragma once

#include <optional>

#include "tests/sim/device/file/device.hpp"

namespace simgpu {

enum class Purpose { context, module, allocation };

/// Returns the part of a process's use in which this purpose is counted.
std::uint64_t& bytes_for(GpuUse& use, Purpose purpose);

/// Which process holds what: the device's accounting, inside one Session.
class Ledger {
  public:
    explicit Ledger(Session& session) : session_(session), layout_(session.layout()) {}

    /// Lists the calling process. Its slot is alive while the caller holds kAliveLock + slot.
    /// @return the slot; nothing if living processes hold all of them.
    std::optional<std::uint32_t> enter(const ProcessEntry& identity);

    /// Frees what ended processes held. `own` is the caller's slot, or kMaxProcesses.
    void reap(std::uint32_t own);

    /// @return whether the card had room, if necessary after reaping.
    bool charge(std::uint32_t slot, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes);
    void refund(std::uint32_t slot, std::uint32_t gpu, Purpose purpose, std::uint64_t bytes);

    /// Takes a place on the GPU for a new context. @return nothing if all are taken.
    std::optional<std::uint32_t> add_client(std::uint32_t slot, std::uint32_t gpu);
    void remove_client(std::uint32_t gpu, std::uint32_t client);
    void add_queue(std::uint32_t gpu, std::uint32_t client);

    /// Adds a word of memory of this process for which operations wait. @return its index; nothing if all are
    /// taken.
    std::optional<std::uint32_t> add_word(std::uint32_t slot, std::uint32_t bytes, std::uint64_t value);
    void remove_word(std::uint32_t index);

    std::uint64_t used_bytes(std::uint32_t gpu) const;
    /// GPU time of this process so far, of living and of destroyed contexts.
    Nanoseconds served(std::uint32_t slot, std::uint32_t gpu) const;

  private:
    void bury(std::uint32_t slot);
    void close_client(std::uint32_t gpu, std::uint32_t client);

    Session& session_;
    Layout& layout_;
};

}  // namespace simgpu
