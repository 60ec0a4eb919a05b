#include "daemon/store/history/history_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/history/ring.hpp"
#include "daemon/app/ports/log.hpp"
#include "daemon/store/base/atomic_file.hpp"
#include "daemon/store/base/whole_file.hpp"

namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using app::Result;
using history::RingKind;

std::string error_text(int error) { return std::generic_category().message(error); }

tl::unexpected<model::Refusal> refuse_file(const fs::path& path, const std::string& why) {
    return model::refuse(model::Refusal::Reason::storage, "history " + path.string(), why,
                         "free space in its folder, or set another history_mib in /etc/cgpu/cgpud.yaml");
}

bool write_at(int fd, std::span<const std::byte> bytes, std::uint64_t place) {
    for (;;) {
        const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(place));
        if (written >= 0 || errno != EINTR) return written == static_cast<ssize_t>(bytes.size());
    }
}

}  // namespace

Result<std::unique_ptr<HistoryFile>> HistoryFile::open(const fs::path& path, std::uint64_t bytes) {
    const auto capacity = history::ring_capacity(bytes);
    remove_leftovers(path);
    const auto content = whole_file(path, O_NOFOLLOW);
    if (!content) return refuse_file(path, content.error().message());
    const std::string text = content->value_or(std::string());
    auto found = history::read_ring(std::as_bytes(std::span(text)));
    if (found.kind == RingKind::newer)
        return model::refuse(model::Refusal::Reason::storage, "history " + path.string(),
                             "a newer version of cgpud wrote it",
                             "start that one, or move the file away: then a new history begins");
    std::string damage;
    if (found.kind == RingKind::foreign) {
        damage = "history " + path.string() + ": it is no history. It was moved to " + path.string() +
                 ".damaged, and a new one begins.";
        if (::rename(path.c_str(), (path.string() + ".damaged").c_str()) != 0)
            return refuse_file(path, "it is no history, and can't be moved away: " + error_text(errno));
    } else if (found.damaged > 0) {
        damage = "history " + path.string() + ": " + std::to_string(found.damaged) +
                 " damaged records were left out.";
    }
    if (found.damaged > 0 || found.capacity != capacity) {
        const auto ring = history::make_ring(found.records, capacity);
        const auto replaced = replace_file(path, {reinterpret_cast<const char*>(ring.data()), ring.size()});
        if (!replaced) return refuse_file(path, replaced.error());
    }
    std::unique_ptr<HistoryFile> file(new HistoryFile(path, capacity));
    file->damage_ = std::move(damage);
    if (!found.records.empty()) file->next_ = found.records.back().number + 1;
    return file;
}

/// Told once, not for each interval.
void HistoryFile::failed(const std::string& why) {
    if (!std::exchange(failed_, true))
        log::error("history {}: records can't be written, and are lost: {}", path_.string(), why);
}

void HistoryFile::append(std::span<history::Record> records) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return failed(error_text(errno));
    int error = 0;
    for (history::Record& record : records) {
        record.number = next_++;
        if (!write_at(fd, history::encode(record), history::place_in_ring(record.number, capacity_)))
            error = errno;
    }
    close(fd);
    if (error != 0) return failed(error_text(error));
    failed_ = false;
}

void HistoryFile::sync() {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return failed(error_text(errno));
    if (fdatasync(fd) != 0) failed(error_text(errno));
    close(fd);
}

Result<int> HistoryFile::open_for_reading() {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return refuse_file(path_, error_text(errno));
    return fd;
}

}  // namespace cgpu::store
