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
    static constexpr std::uint32_t kVersion = 3;
    /// In this one nothing has a checksum, free records are zeros, and the header has no number of records.
    static constexpr std::uint32_t kUnchecked = 2;
    static constexpr std::uint32_t kOldestVersion = 2;  ///< that of cgpu 1.0.0: no release wrote another one

    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t record_bytes;
    std::atomic<std::uint64_t> records;  ///< with its check, as amounts have one
    std::uint8_t reserved[232];

    /// How many have been made; the file may be longer, if its maker was killed.
    void set_record_count(std::uint64_t count);
    /// Empty: its check is wrong.
    [[nodiscard]] std::optional<std::uint64_t> record_count() const;
};

/// The versions that are read; the newest is written. Tests make up those of a later cgpud.
struct LeaseVersions {
    std::uint32_t oldest = LeaseFileHeader::kOldestVersion;
    std::uint32_t newest = LeaseFileHeader::kVersion;
};

/// One lease in the file, or the size of a context on one GPU. Only the daemon reads it, on the machine and
/// in the boot that wrote it: its byte order and widths are the machine's.
///
/// A wrong bit anywhere makes a record invalid. What it is of has a checksum. An amount changes often and at
/// any instant its daemon may be killed, so it is one word with its own check: 48 bits of bytes, and 16 of a
/// checksum of them, of which amount it is, and of the record's checksum.
struct LeaseRecord {
    static constexpr std::uint32_t kFree = 0x46726565;  // "Free": zeros are no record
    static constexpr std::uint32_t kUsed = 0x4c656173;  // "Leas": a stray bit makes no record valid
    static constexpr std::uint32_t kContextSize =
        0x43747874;  // "Ctxt": only `gpu` and `unsized` say something

    std::atomic<std::uint32_t> state;
    std::int32_t pid;
    std::uint64_t start_time;
    std::uint64_t generation;
    std::atomic<std::uint64_t> lease;  ///< with its check, like the next one
    std::atomic<std::uint64_t> unsized;
    std::uint8_t gpu[16];
    char boot_id[40];         ///< NUL-padded
    char instance[128];       ///< NUL-padded; a full one has no NUL
    std::uint32_t key_check;  ///< of pid, start_time, generation, gpu, boot_id and instance
    std::uint8_t reserved[28];

    /// Makes it a used, empty record. False if the key doesn't fit.
    bool put(const app::LeaseKey& key);
    void put(const app::LeaseTable::ContextSize& size);
    void set(const app::LeaseAmounts& amounts);
    void set_context_size(std::uint64_t bytes);
    /// Gives a record of version kUnchecked its checks. False: it is invalid.
    bool add_checks();
    /// The content of a used record; empty if it is invalid.
    [[nodiscard]] std::optional<app::LeaseTable::Saved> read(std::size_t place) const;
    [[nodiscard]] std::optional<app::LeaseTable::ContextSize> read_context_size() const;

  private:
    [[nodiscard]] std::uint32_t check_of_key() const;
    void check_key() { key_check = check_of_key(); }
    /// Empty: its check is wrong.
    [[nodiscard]] std::optional<app::LeaseAmounts> amounts() const;
};

static_assert(sizeof(LeaseFileHeader) == 256 && sizeof(LeaseRecord) == 256);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace cgpu::store
