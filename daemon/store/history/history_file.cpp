#include "daemon/store/history/history_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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
#include "files/read.hpp"

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

tl::unexpected<model::Refusal> refuse_file(const fs::path& path, const files::Unread& unread) {
    if (unread.is_no_file())
        return model::refuse(model::Refusal::Reason::storage, "history " + path.string(), unread.why(),
                             "move it away, then systemctl restart cgpud: a new history begins");
    return refuse_file(path, unread.why());
}

/// What lies there. A file that is longer than a history of `bytes`, and than its own header says, is none:
/// only its beginning is read, however long it is.
Result<history::RingReading> read_file(const fs::path& path, std::uint64_t bytes) {
    const auto file = files::open_regular(path, O_NOFOLLOW);
    if (!file && file.error().is_missing()) return history::RingReading{};
    if (!file) return refuse_file(path, file.error());
    auto text = files::read_up_to(file->fd(), history::kHeaderBytes);
    struct stat its {};
    if (!text || ::fstat(file->fd(), &its) != 0)
        return refuse_file(path, files::Unread{text ? errno : text.error()});
    auto found = history::read_ring(std::as_bytes(std::span(*text)));
    if (found.kind == RingKind::newer) return found;
    const auto most = std::max(bytes, history::ring_bytes(found.capacity));
    if (static_cast<std::uint64_t>(its.st_size) > most)
        return history::RingReading{.kind = RingKind::foreign, .records = {}};
    const auto rest = files::read_up_to(file->fd(), most);
    if (!rest) return refuse_file(path, files::Unread{rest.error()});
    return history::read_ring(std::as_bytes(std::span(*text += *rest)));
}

/// Numbered without a gap, so that what is missing is told of once. `first`: more than 1 if there were older
/// ones, which readers say.
std::vector<history::Record> numbered_from(std::uint64_t first, std::vector<history::Record> records) {
    for (auto& record : records) record.number = first++;
    return records;
}

bool write_at(int fd, std::span<const std::byte> bytes, std::uint64_t place) {
    for (;;) {
        const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(place));
        if (written >= 0 || errno != EINTR) return written == static_cast<ssize_t>(bytes.size());
    }
}

}  // namespace

Result<void> HistoryFile::check(const fs::path& path) {
    const auto file = files::open_regular(path, O_NOFOLLOW);
    if (!file && !file.error().is_missing()) return refuse_file(path, file.error());
    return {};
}

Result<std::unique_ptr<HistoryFile>> HistoryFile::open(const fs::path& path, std::uint64_t bytes) {
    const auto capacity = history::ring_capacity(bytes);
    remove_leftovers(path);
    std::error_code unknown;
    const bool was_there = fs::exists(path, unknown);
    auto read = read_file(path, bytes);
    if (!read) return tl::unexpected(read.error());
    auto& found = *read;
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
                 " damaged or missing records were left out.";
    } else if (found.kind == RingKind::empty && was_there) {
        damage = "history " + path.string() + ": it had lost its content, and a new one begins.";
    }
    auto next = found.records.empty() ? 1 : found.records.back().number + 1;
    if (found.damaged > 0 || found.former || found.capacity != capacity) {
        const auto newest = std::min(found.records.size(), capacity);
        const bool lost = newest < found.records.size() || (newest > 0 && found.records.front().number > 1);
        const std::uint64_t first = lost ? capacity + 1 : 1;  // in the first place of the file
        found.records = numbered_from(
            first, {found.records.end() - static_cast<std::ptrdiff_t>(newest), found.records.end()});
        const auto ring = history::make_ring(found.records, capacity);
        const auto replaced = replace_file(path, {reinterpret_cast<const char*>(ring.data()), ring.size()});
        if (!replaced) return refuse_file(path, replaced.error());
        next = first + newest;
    }
    std::unique_ptr<HistoryFile> file(new HistoryFile(path, capacity));
    file->damage_ = std::move(damage);
    file->next_ = next;
    file->found_ = std::move(found.records);
    return file;
}

/// Told once, not for each interval.
void HistoryFile::failed(const std::string& why) {
    if (!std::exchange(failed_, true))
        log::error("history {}: records can't be written, and are lost: {}", path_.string(), why);
}

/// Opened again each time: another one may have been put there.
void HistoryFile::append(std::span<history::Record> records) {
    const auto file = files::open_regular(path_, O_WRONLY | O_NOFOLLOW);
    if (!file) return failed(file.error().why());
    int error = 0;
    for (history::Record& record : records) {
        // Its place may be a newer one's by now.
        if (record.number == 0 || record.number + capacity_ < next_) record.number = next_++;
        if (!write_at(file->fd(), history::encode(record), history::place_in_ring(record.number, capacity_)))
            error = errno;
    }
    if (error != 0) return failed(error_text(error));
    failed_ = false;
}

void HistoryFile::sync() {
    const auto file = files::open_regular(path_, O_WRONLY | O_NOFOLLOW);
    if (!file) return failed(file.error().why());
    if (fdatasync(file->fd()) != 0) failed(error_text(errno));
}

Result<int> HistoryFile::open_for_reading() {
    auto file = files::open_regular(path_, O_NOFOLLOW);
    if (!file) return refuse_file(path_, file.error());
    return file->release();
}

}  // namespace cgpu::store
