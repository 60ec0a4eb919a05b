#include "tests/sim/device/file/device.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tests/sim/device/file/address.hpp"
#include "tests/sim/device/file/trace_end.hpp"
#include "tests/sim/model/timeline.hpp"

namespace simgpu {

namespace {

Layout* map(int descriptor, std::uint64_t bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    return at == MAP_FAILED ? nullptr : static_cast<Layout*>(at);
}

void fill(Layout& layout, const std::vector<Card>& cards, std::uint64_t bytes) {
    layout.version = kLayoutVersion;
    layout.gpu_count = static_cast<std::uint32_t>(cards.size());
    layout.file_bytes = bytes;
    std::copy(cards.begin(), cards.end(), layout.cards);
    TimelineState& timeline = layout.timeline;
    timeline.now = clock_now();
    timeline.gpu_count = layout.gpu_count;
    for (std::uint32_t g = 0; g < layout.gpu_count; ++g) {
        timeline.gpus[g].active = -1;
        timeline.gpus[g].slice = cards[g].slice;
        timeline.gpus[g].switch_cost = cards[g].switch_cost;
    }
    layout.magic = kMagic;
}

}  // namespace

int Device::create(const std::string& path, const std::vector<Card>& cards) {
    const std::uint64_t mapped = kRingsOffset + RingTable::bytes(static_cast<std::uint32_t>(cards.size()));
    constexpr std::uint64_t bytes = kDataOffset + kDataBytes;
    // A new file replaces the old one: a process that still uses the old one keeps it.
    const std::string unfinished = path + ".new";
    unlink(unfinished.c_str());
    const int descriptor = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return errno;
    int error = 0;
    if (fchmod(descriptor, 0666) != 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) error = errno;
    if (error == 0) {
        Layout* layout = map(descriptor, kRingsOffset);
        if (layout) {
            fill(*layout, cards, mapped);
            munmap(layout, kRingsOffset);
        } else {
            error = errno;
        }
    }
    ::close(descriptor);
    if (error == 0 && rename(unfinished.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(unfinished.c_str());
    return error;
}

std::unique_ptr<Device> Device::open(const std::string& path) {
    FileLock probe;
    if (const int error = probe.open(path); error != 0) {
        errno = error;
        return nullptr;
    }
    struct stat status {};
    if (fstat(probe.descriptor(), &status) != 0 ||
        status.st_size != static_cast<off_t>(kDataOffset + kDataBytes)) {
        errno = EINVAL;
        return nullptr;
    }
    Layout* head = map(probe.descriptor(), kRingsOffset);
    if (!head) return nullptr;
    const bool ours = head->magic == kMagic && head->version == kLayoutVersion;
    const std::uint64_t bytes = head->file_bytes;
    munmap(head, kRingsOffset);
    Layout* layout = ours ? map(probe.descriptor(), bytes) : nullptr;
    if (!layout) {
        errno = EINVAL;
        return nullptr;
    }
    std::unique_ptr<Device> device(new Device(layout, path, status));
    if (device->lock_.open(path) != 0) {
        errno = EINVAL;
        return nullptr;
    }
    return device;
}

Device::~Device() { munmap(layout_, layout_->file_bytes); }

RingTable Device::rings() const {
    return RingTable(reinterpret_cast<Ring*>(reinterpret_cast<char*>(layout_) + kRingsOffset));
}

int Device::open_file() const {
    // The path may name a newer device by now; then the one in use is opened through its open descriptor.
    for (const std::string& name : {path_, "/proc/self/fd/" + std::to_string(lock_.descriptor())}) {
        const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
        if (descriptor >= 0 && is_of_this_file(descriptor)) return descriptor;
        if (descriptor >= 0) ::close(descriptor);
    }
    return -1;
}

bool Device::map_data(std::uint64_t offset, std::uint64_t bytes, std::uint64_t address) const {
    // Not by the lock's descriptor: a mapping in a forked child would keep a killed parent's lock.
    const int descriptor = open_file();
    if (descriptor < 0) return false;
    void* at = mmap(at_address(address), bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED | MAP_NORESERVE, descriptor, static_cast<off_t>(offset));
    ::close(descriptor);
    return at != MAP_FAILED;
}

bool Device::is_of_this_file(int descriptor) const {
    struct stat status {};
    return fstat(descriptor, &status) == 0 && status.st_dev == file_device_ && status.st_ino == file_number_;
}

void Device::after_fork_in_child() {
    lock_.close();
    lock_.open(path_);
    mutex_.unlock();
}

Session::Session(Device& device) : device_(device), journal_(*device.layout_) {
    const Nanoseconds began = layout().trace.on != 0 ? clock_now() : kNever;
    device_.mutex_.lock();
    device_.lock_.lock(kStateLock);
    journal_.roll_back();
    note_locked(began);
}

void Session::note_locked(Nanoseconds since) {
    const Nanoseconds now = clock_now();
    if (layout().trace.on == 0 || now - since < kLongLocked) return;
    TraceRecord record{};
    record.time = now;
    record.gpu = kTraceLocked;
    record.allocated_bytes = static_cast<std::uint64_t>(now - since);
    append(record);
    journal_.commit();
}

Session::~Session() {
    device_.lock_.unlock(kStateLock);
    device_.mutex_.unlock();
}

void Session::append(const TraceRecord& record) {
    append_record(layout().trace, journal_, device_.lock_.descriptor(), record);
}

void Session::forget_data(std::uint64_t offset, std::uint64_t bytes) {
    fallocate(device_.lock_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

void Session::advance() {
    journal_.save_timeline();
    Timeline(layout().timeline, device_.rings(), Timeline::Stamps::write).advance(clock_now());
    journal_.commit();
}

}  // namespace simgpu
