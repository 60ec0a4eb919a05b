#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "daemon/store/lease_record.hpp"

namespace cgpu::store {

/// app::LeaseTable in a mapped file that only the daemon can read. The file survives the daemon, not the
/// machine, so nothing is synced.
///
/// Records have a fixed width. A record is used by its state word alone, which is written last and cleared
/// first, and its amounts are words that stand alone: a daemon killed at any instant leaves whole records.
/// Each has checksums, so that damage is found. The file only grows, and the new part is allocated before it
/// is touched, so a full disk causes a refusal and never a SIGBUS.
///
/// A file that can't be read (foreign, truncated, or with an invalid record) is moved to `<path>.damaged`, a
/// new one is begun, and damage() reports it. Records of a damaged file are not used: leases missing from a
/// partial list would be granted a second time. A file that a newer release wrote is left alone.
class LeaseFile final : public app::LeaseTable {
  public:
    /// Whether what lies there can be read, if something does. Makes and changes nothing.
    static app::Result<void> check(const std::filesystem::path& path);
    /// Opens or creates the file. Refused (storage), with nothing changed: it can't be created, another
    /// daemon holds it, or a newer version wrote it.
    static app::Result<std::unique_ptr<LeaseFile>> open(const std::filesystem::path& path,
                                                        const LeaseVersions& versions = {});
    ~LeaseFile() override;
    LeaseFile(const LeaseFile&) = delete;
    LeaseFile& operator=(const LeaseFile&) = delete;

    /// For the log: what was wrong with the file that was found; empty: nothing.
    [[nodiscard]] const std::string& damage() const { return damage_; }

    [[nodiscard]] std::vector<Saved> saved() const override;
    [[nodiscard]] bool damaged() const override { return !damage_.empty(); }
    [[nodiscard]] bool is_new() const override { return is_new_; }
    app::Result<std::size_t> add(const app::LeaseKey& key) override;
    void set(std::size_t place, const app::LeaseAmounts& amounts) override;
    void remove(std::size_t place) override;
    [[nodiscard]] std::vector<ContextSize> context_sizes() const override;
    void set_context_size(const ContextSize& size) override;

  private:
    LeaseFile(std::filesystem::path path, int fd, const LeaseVersions& versions);

    app::Result<void> begin();
    app::Result<void> reserve(std::size_t records);
    app::Result<void> make_longer(std::size_t bytes);
    /// Makes a mapped file of version kUnchecked one of today. Anything that is wrong with it is left for
    /// find_damage().
    void add_checks();
    [[nodiscard]] LeaseFileHeader& header() const { return *static_cast<LeaseFileHeader*>(mapped_); }
    /// How many records the mapped file has space for.
    [[nodiscard]] std::size_t places() const;
    /// The place of a free record; the file grows if there is none.
    app::Result<std::size_t> free_place();
    /// The mapped file's version, if this release is too old for it.
    [[nodiscard]] std::optional<std::uint32_t> version_to_come() const;
    /// What is wrong with the mapped file; empty: nothing.
    [[nodiscard]] std::string find_damage() const;
    [[nodiscard]] std::span<LeaseRecord> records() const;
    [[nodiscard]] tl::unexpected<model::Refusal> trouble(const std::string& why) const;

    std::filesystem::path path_;
    int fd_;
    LeaseVersions versions_;
    void* mapped_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t first_maybe_free_ = 0;
    std::string damage_;
    bool is_new_ = false;
};

}  // namespace cgpu::store
