#include "daemon/store/lease_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "files/read.hpp"

namespace cgpu::store {
namespace {

constexpr std::size_t kFirstRecords = 255;  // with the header 64 KiB
/// Some 260,000 leases, far more than a node has processes with GPUs. The file is read as a whole.
constexpr std::size_t kLongest = std::size_t{64} << 20;

constexpr const char* kFreeSpace = "free space in its folder, and let only one cgpud write there";
constexpr const char* kMakeAnew =
    "remove it: cgpud makes a new one, and counts the memory of the processes that run by the driver's "
    "figures";

std::string error_text() { return std::generic_category().message(errno); }

tl::unexpected<model::Refusal> refuse_file(const std::filesystem::path& path, const std::string& why,
                                           const std::string& remedy = kFreeSpace) {
    return model::refuse(model::Refusal::Reason::storage, "lease file " + path.string(), why, remedy);
}

tl::unexpected<model::Refusal> refuse_file(const std::filesystem::path& path, const files::Unread& unread) {
    if (unread.is_no_file()) return refuse_file(path, unread.why(), kMakeAnew);
    if (unread.error == EACCES || unread.error == EPERM)
        return refuse_file(path, unread.why(), "let the user of cgpud read and write it and its folder");
    if (unread.error == EROFS)
        return refuse_file(path, unread.why(), "let its file system be written (mount -o remount,rw)");
    return refuse_file(path, unread.why());
}

app::Result<Descriptor> open_locked(const std::filesystem::path& path) {
    auto file = files::open_regular(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (!file) return refuse_file(path, file.error());
    if (flock(file->fd(), LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? refuse_file(path, "another cgpud uses it",
                                                  "stop that one, or give this one a runtime_dir of its own")
                                    : refuse_file(path, error_text());
    if (fchmod(file->fd(), 0600) != 0) return refuse_file(path, files::Unread{errno});
    return std::move(*file);
}

}  // namespace

app::Result<void> LeaseFile::check(const std::filesystem::path& path) {
    const auto file = files::open_regular(path, O_NOFOLLOW);
    if (!file && !file.error().is_missing()) return refuse_file(path, file.error());
    return {};
}

LeaseFile::LeaseFile(std::filesystem::path path, int fd, const LeaseVersions& versions)
    : path_(std::move(path)), fd_(fd), versions_(versions) {}

LeaseFile::~LeaseFile() {
    if (mapped_ != nullptr) munmap(mapped_, bytes_);
    // Unlocked explicitly, not by close(): a forked child may have the descriptor, too.
    flock(fd_, LOCK_UN);
    close(fd_);
}

app::Result<std::unique_ptr<LeaseFile>> LeaseFile::open(const std::filesystem::path& path,
                                                        const LeaseVersions& versions) {
    std::string damage;
    // The second round is for a new file, after a damaged one was moved away.
    for (int round = 0; round < 2; ++round) {
        auto opened = open_locked(path);
        if (!opened) return tl::unexpected(opened.error());
        std::unique_ptr<LeaseFile> file(new LeaseFile(path, opened->release(), versions));
        if (const auto begun = file->begin(); !begun) return tl::unexpected(begun.error());
        if (const auto version = file->version_to_come())
            return model::refuse(model::Refusal::Reason::storage, "lease file " + path.string(),
                                 "it is of version " + std::to_string(*version) +
                                     " and this cgpud knows versions up to " +
                                     std::to_string(versions.newest),
                                 "start the newer cgpud that wrote it, which knows what running jobs hold");
        file->add_checks();
        if (const auto found = file->find_damage(); found.empty()) {
            file->damage_ = damage;
            file->header().version = versions.newest;
            return file;
        } else {
            damage = "lease file " + path.string() + ": " + found + ". It was moved to " + path.string() +
                     ".damaged; memory is counted by the driver's figures until processes end.";
        }
        if (rename(path.c_str(), (path.string() + ".damaged").c_str()) != 0)
            return refuse_file(path, "it is damaged and can't be moved away: " + error_text());
    }
    return refuse_file(path, "a new one is damaged at once");
}

/// Maps the existing file; writes the header of an empty file.
app::Result<void> LeaseFile::begin() {
    struct stat status {};
    if (fstat(fd_, &status) != 0) return trouble(error_text());
    const auto size = static_cast<std::size_t>(status.st_size);
    // It is damaged, and isn't mapped in order to learn how.
    if (size > kLongest) return {};
    if (size > 0) {
        void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        if (mapped == MAP_FAILED) return trouble(error_text());
        mapped_ = mapped;
        bytes_ = size;
    }
    // A daemon killed while it created the file leaves zeros: that counts as an empty file.
    const auto* first = static_cast<const unsigned char*>(mapped_);
    if (size > 0 && std::any_of(first, first + size, [](unsigned char byte) { return byte != 0; })) return {};
    is_new_ = true;
    if (auto reserved = reserve(kFirstRecords); !reserved) return reserved;
    header().version = versions_.newest;
    header().record_bytes = sizeof(LeaseRecord);
    std::atomic_ref(header().magic).store(LeaseFileHeader::kMagic, std::memory_order_release);
    return {};
}

/// Makes room for this many records in total.
app::Result<void> LeaseFile::reserve(std::size_t records) {
    const auto bytes = sizeof(LeaseFileHeader) + records * sizeof(LeaseRecord);
    if (bytes > kLongest)
        return trouble("it has " + std::to_string(bytes_ / sizeof(LeaseRecord)) + " leases");
    if (auto longer = make_longer(bytes); !longer) return longer;
    auto* const first =
        reinterpret_cast<LeaseRecord*>(static_cast<std::byte*>(mapped_) + sizeof(LeaseFileHeader));
    const auto made = header().record_count().value_or(0);
    for (auto place = made; place < records; ++place)
        first[place].state.store(LeaseRecord::kFree, std::memory_order_relaxed);
    if (made < records) header().set_record_count(records);
    return {};
}

app::Result<void> LeaseFile::make_longer(std::size_t bytes) {
    if (bytes <= bytes_) return {};
    if (const int error = posix_fallocate(fd_, 0, static_cast<off_t>(bytes)); error != 0) {
        // The space that was allocated before the failure is of no use; the file is cut back to the mapped
        // size.
        [[maybe_unused]] const int undone = ftruncate(fd_, static_cast<off_t>(bytes_));
        return trouble("it can't grow: " + std::generic_category().message(error));
    }
    void* mapped = mapped_ == nullptr ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0)
                                      : mremap(mapped_, bytes_, bytes, MREMAP_MAYMOVE);
    if (mapped == MAP_FAILED) return trouble("it can't grow: " + error_text());
    mapped_ = mapped;
    bytes_ = bytes;
    return {};
}

std::optional<std::uint32_t> LeaseFile::version_to_come() const {
    if (bytes_ < sizeof(LeaseFileHeader) || header().magic != LeaseFileHeader::kMagic ||
        header().version <= versions_.newest)
        return std::nullopt;
    return header().version;
}

std::size_t LeaseFile::places() const { return (bytes_ - sizeof(LeaseFileHeader)) / sizeof(LeaseRecord); }

void LeaseFile::add_checks() {
    const bool unchecked = bytes_ >= sizeof(LeaseFileHeader) && header().magic == LeaseFileHeader::kMagic &&
                           header().version == LeaseFileHeader::kUnchecked &&
                           versions_.oldest <= LeaseFileHeader::kUnchecked;
    if (!unchecked) return;
    header().set_record_count(places());
    for (auto& record : records())
        if (!record.add_checks()) return;
}

std::string LeaseFile::find_damage() const {
    if (mapped_ == nullptr) return "it is longer than " + std::to_string(kLongest >> 20) + "MiB";
    if (bytes_ < sizeof(LeaseFileHeader)) return "it is too short";
    if (header().magic != LeaseFileHeader::kMagic) return "it is not a lease file";
    if (header().version < versions_.oldest || header().record_bytes != sizeof(LeaseRecord))
        return "its version " + std::to_string(header().version) + " is not known";
    if ((bytes_ - sizeof(LeaseFileHeader)) % sizeof(LeaseRecord) != 0 ||
        header().record_count().value_or(places() + 1) > places())
        return "it was cut off";
    const auto all = records();
    for (std::size_t place = 0; place < all.size(); ++place) {
        const auto state = all[place].state.load(std::memory_order_acquire);
        if (state == LeaseRecord::kFree) continue;
        const bool sane = state == LeaseRecord::kUsed          ? all[place].read(place).has_value()
                          : state == LeaseRecord::kContextSize ? all[place].read_context_size().has_value()
                                                               : false;
        if (!sane) return "its record " + std::to_string(place) + " makes no sense";
    }
    return {};
}

std::span<LeaseRecord> LeaseFile::records() const {
    auto* first = reinterpret_cast<LeaseRecord*>(static_cast<std::byte*>(mapped_) + sizeof(LeaseFileHeader));
    return {first, static_cast<std::size_t>(header().record_count().value_or(0))};
}

tl::unexpected<model::Refusal> LeaseFile::trouble(const std::string& why) const {
    return refuse_file(path_, why);
}

std::vector<app::LeaseTable::Saved> LeaseFile::saved() const {
    std::vector<Saved> found;
    const auto all = records();
    for (std::size_t place = 0; place < all.size(); ++place) {
        if (all[place].state.load(std::memory_order_acquire) != LeaseRecord::kUsed) continue;
        if (auto saved = all[place].read(place)) found.push_back(std::move(*saved));
    }
    return found;
}

app::Result<std::size_t> LeaseFile::free_place() {
    const auto all = records();
    auto place = first_maybe_free_;
    while (place < all.size() && all[place].state.load(std::memory_order_relaxed) != LeaseRecord::kFree)
        ++place;
    if (place == all.size())
        if (const auto grown = reserve(std::max(2 * all.size(), kFirstRecords)); !grown)
            return tl::unexpected(grown.error());
    return place;
}

app::Result<std::size_t> LeaseFile::add(const app::LeaseKey& key) {
    auto place = free_place();
    if (!place) return place;
    if (!records()[*place].put(key))
        return trouble("the names of process " + std::to_string(key.process.pid) + " don't fit");
    first_maybe_free_ = *place + 1;
    return place;
}

void LeaseFile::set(std::size_t place, const app::LeaseAmounts& amounts) { records()[place].set(amounts); }

void LeaseFile::remove(std::size_t place) {
    records()[place].state.store(LeaseRecord::kFree, std::memory_order_release);
    first_maybe_free_ = std::min(first_maybe_free_, place);
}

std::vector<app::LeaseTable::ContextSize> LeaseFile::context_sizes() const {
    std::vector<ContextSize> found;
    for (const auto& record : records()) {
        if (record.state.load(std::memory_order_acquire) != LeaseRecord::kContextSize) continue;
        if (const auto size = record.read_context_size()) found.push_back(*size);
    }
    return found;
}

void LeaseFile::set_context_size(const ContextSize& size) {
    for (auto& record : records()) {
        if (record.state.load(std::memory_order_acquire) != LeaseRecord::kContextSize) continue;
        if (const auto known = record.read_context_size(); known && known->gpu == size.gpu)
            return record.set_context_size(size.bytes);
    }
    if (const auto place = free_place()) records()[*place].put(size);
}

}  // namespace cgpu::store
