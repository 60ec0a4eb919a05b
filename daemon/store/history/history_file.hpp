#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/app/ports/history_store.hpp"

namespace cgpu::store {

/// app::HistoryStore in a file (core/history/ring.hpp) that only the daemon can open. It is written in place,
/// a record at a time, and grows up to its size. On a full disk new records are lost until there is space. It
/// is open only while it is written, so that its file system can be made read-only.
///
/// What lies there is read at the start. If it has another size, or was damaged, the records that can be read
/// are put into a new file, which replaces the old one at once. A file that isn't a history is moved to
/// `<path>.damaged`. One that a newer release wrote is left alone.
class HistoryFile final : public app::HistoryStore {
  public:
    /// Whether what lies there can be read, if something does. Makes and changes nothing.
    static app::Result<void> check(const std::filesystem::path& path);
    /// Opens or creates the file; `bytes`: its size, at most. Refused (storage), with nothing changed: it
    /// can't be read or made, or a newer version wrote it.
    static app::Result<std::unique_ptr<HistoryFile>> open(const std::filesystem::path& path,
                                                          std::uint64_t bytes);

    /// For the log: what was wrong with the file that was found; empty: nothing.
    [[nodiscard]] const std::string& damage() const { return damage_; }

    std::vector<history::Record> take_found() override { return std::exchange(found_, {}); }
    void append(std::span<history::Record> records) override;
    void sync() override;
    app::Result<int> open_for_reading() override;

  private:
    HistoryFile(std::filesystem::path path, std::size_t capacity)
        : path_(std::move(path)), capacity_(capacity) {}

    void failed(const std::string& why);

    std::filesystem::path path_;
    std::size_t capacity_;
    std::vector<history::Record> found_;
    std::uint64_t next_ = 1;  ///< the number of the next record
    bool failed_ = false;     ///< the last append()
    std::string damage_;
};

/// Where no history is kept: because of the configuration, or because the file can't be used.
class NoHistory final : public app::HistoryStore {
  public:
    explicit NoHistory(model::Refusal why) : why_(std::move(why)) {}
    std::vector<history::Record> take_found() override { return {}; }
    void append(std::span<history::Record>) override {}
    void sync() override {}
    app::Result<int> open_for_reading() override { return tl::unexpected(why_); }

  private:
    model::Refusal why_;
};

}  // namespace cgpu::store
