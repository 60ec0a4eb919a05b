#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "daemon/app/memory/pool/lease_table.hpp"

namespace cgpu::store {

/// The start of the lease file.
struct LeaseFileHeader {
    static constexpr std::uint64_t kMagic = 0x7361656c75706763;  // "cgpuleas"
    /// Of what this cgpud writes. Another layout of records needs another one; a number is never given again.
    static constexpr std::uint32_t kVersion = 2;
    static constexpr std::uint32_t kOldestVersion = 2;  ///< that of cgpu 1.0.0: no release wrote another one

    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t record_bytes;
    std::uint8_t reserved[240];
};

/// The versions that are read; the newest is written. Tests make up those of a later cgpud.
struct LeaseVersions {
    std::uint32_t oldest = LeaseFileHeader::kOldestVersion;
    std::uint32_t newest = LeaseFileHeader::kVersion;
};

/// One lease in the file, or the size of a context on one GPU. Only the daemon reads it, on the machine and
/// in the boot that wrote it: its byte order and widths are the machine's.
struct LeaseRecord {
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kUsed = 0x4c656173;  // "Leas": a stray bit makes no record valid
    static constexpr std::uint32_t kContextSize =
        0x43747874;  // "Ctxt": only `gpu` and `unsized` say something

    std::atomic<std::uint32_t> state;
    std::int32_t pid;
    std::uint64_t start_time;
    std::uint64_t generation;
    std::atomic<std::uint64_t> lease;
    std::atomic<std::uint64_t> unsized;
    std::uint8_t gpu[16];
    char boot_id[40];    ///< NUL-padded
    char instance[128];  ///< NUL-padded; a full one has no NUL
    std::uint8_t reserved[32];

    /// Makes it a used, empty record. False if the key doesn't fit.
    bool put(const app::LeaseKey& key);
    void put(const app::LeaseTable::ContextSize& size);
    /// The content of a used record; empty if it is invalid.
    [[nodiscard]] std::optional<app::LeaseTable::Saved> read(std::size_t place) const;
    [[nodiscard]] std::optional<app::LeaseTable::ContextSize> read_context_size() const;
};

static_assert(sizeof(LeaseFileHeader) == 256 && sizeof(LeaseRecord) == 256);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace cgpu::store
