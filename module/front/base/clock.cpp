#include "module/front/base/clock.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "module/front/base/system_call.hpp"

namespace cgpu::front {
namespace {

#ifndef SYS_openat2
#define SYS_openat2 437  // headers of old distributions don't have it
#endif

using Read = long (*)(clockid_t, timespec*);

constinit std::atomic<Read> reader{nullptr};  ///< null: not looked for yet, or this is a forked child
constinit std::atomic<std::int64_t> offset_ns{0};

long read_by_system_call(clockid_t clock, timespec* time) {
    return system_call(SYS_clock_gettime, clock, time);
}

/// The tables of the library that the kernel maps into each process (vDSO).
struct KernelLibrary {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    const std::uint32_t* hash = nullptr;
    const std::uint32_t* gnu_hash = nullptr;
    const char* load = nullptr;  ///< where address 0 of the file would be

    std::uint32_t symbol_count() const {
        if (hash != nullptr) return hash[1];
        if (gnu_hash == nullptr) return 0;
        // Only the end of the last chain tells how many there are.
        const std::uint32_t buckets = gnu_hash[0];
        const std::uint32_t first = gnu_hash[1];
        const std::uint32_t* bucket = gnu_hash + 4 + gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof *gnu_hash);
        const std::uint32_t* chain = bucket + buckets;
        std::uint32_t last = 0;
        for (std::uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
        if (last < first) return 0;
        while ((chain[last - first] & 1) == 0) ++last;
        return last + 1;
    }
};

KernelLibrary kernel_library() {
    KernelLibrary library;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives the address as a number
    const auto* base = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
    if (base == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return library;
    const auto* part = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
    const ElfW(Dyn)* entry = nullptr;
    bool loaded = false;
    for (unsigned i = 0; i < header->e_phnum; ++i) {
        if (part[i].p_type == PT_LOAD && !loaded) {
            library.load = base + part[i].p_offset - part[i].p_vaddr;
            loaded = true;
        }
        if (part[i].p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(base + part[i].p_offset);
    }
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
        const char* at = library.load + entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) library.symbols = reinterpret_cast<const ElfW(Sym)*>(at);
        if (entry->d_tag == DT_STRTAB) library.names = reinterpret_cast<const char*>(at);
        if (entry->d_tag == DT_HASH) library.hash = reinterpret_cast<const std::uint32_t*>(at);
        if (entry->d_tag == DT_GNU_HASH) library.gnu_hash = reinterpret_cast<const std::uint32_t*>(at);
    }
    return library;
}

/// The kernel's function that needs no system call (20 ns instead of 118); null: there is none.
Read find_kernel_function() {
    const KernelLibrary library = kernel_library();
    if (library.symbols == nullptr || library.names == nullptr) return nullptr;
    const std::uint32_t count = library.symbol_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        const ElfW(Sym)& symbol = library.symbols[i];
        if (symbol.st_shndx == SHN_UNDEF ||
            std::strcmp(library.names + symbol.st_name, "__vdso_clock_gettime") != 0)
            continue;
        const auto address = reinterpret_cast<std::uintptr_t>(library.load) + symbol.st_value;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the file says where its function is
        return reinterpret_cast<Read>(address);
    }
    return nullptr;
}

std::int64_t in_ns(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

Read find_reader() {
    const Read found = find_kernel_function();
    if (found == nullptr) return read_by_system_call;
    // Where that library isn't the kernel's (recorders of programs put their own there), the call counts. The
    // slack is for clocks that differ between cores.
    constexpr std::int64_t kSlack = kMillisecond;
    timespec before{};
    timespec between{};
    timespec after{};
    if (read_by_system_call(CLOCK_MONOTONIC, &before) != 0 || found(CLOCK_MONOTONIC, &between) != 0 ||
        read_by_system_call(CLOCK_MONOTONIC, &after) != 0 || in_ns(between) < in_ns(before) - kSlack ||
        in_ns(between) > in_ns(after) + kSlack)
        return read_by_system_call;
    return found;
}

long open_below(long folder, const char* path, std::uint64_t flags, std::uint64_t resolve) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = resolve;
    return system_call(SYS_openat2, folder, path, &how, sizeof how);
}

bool is_root_of_proc(long folder) {
    constexpr long kProcMagic = 0x9fa0;
    constexpr ino_t kRootInode = 1;
    struct statfs system {};
    struct stat identity {};
    return system_call(SYS_fstatfs, folder, &system) == 0 && system.f_type == kProcMagic &&
           system_call(SYS_fstat, folder, &identity) == 0 && identity.st_ino == kRootInode;
}

/// The offset in the file behind the descriptor, which is closed.
std::int64_t take_offset(long file) {
    std::array<char, 256> text{};
    const long got = file < 0 ? 0 : system_call(SYS_read, file, text.data(), text.size() - 1);
    text[got < 0 ? 0 : static_cast<std::size_t>(got)] = '\0';
    if (file >= 0) system_call(SYS_close, file);
    return monotonic_offset_in(text.data());
}

/// A program in a user namespace of its own may mount what it likes over a file in /proc, or over the folder.
/// The call that finds such mounts is as old as time namespaces are (Linux 5.6). It isn't made for nothing:
/// some filters of system calls end a process for one that they don't know.
std::int64_t read_offset() {
    constexpr std::uint64_t kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    if (take_offset(system_call(SYS_openat, AT_FDCWD, "/proc/self/timens_offsets", kFlags | O_CLOEXEC)) == 0)
        return 0;
    const long proc = open_below(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY, 0);
    if (proc < 0) return 0;
    std::int64_t offset = 0;
    if (is_root_of_proc(proc))
        offset = take_offset(
            open_below(proc, "self/timens_offsets", kFlags, RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS));
    system_call(SYS_close, proc);
    return offset;
}

/// A child may be in another time namespace than its parent (unshare -T).
void look_again_in_children() {
    static constinit std::atomic<bool> done{false};
    if (!done.exchange(true)) pthread_atfork(nullptr, nullptr, [] { reader.store(nullptr); });
}

Read prepare() {
    look_again_in_children();
    read_clock_offset();
    const Read found = find_reader();
    reader.store(found, std::memory_order_release);
    return found;
}

}  // namespace

std::int64_t monotonic_offset_in(const char* text) {
    constexpr char kName[] = "monotonic";
    for (const char* line = text; line != nullptr && *line != '\0';) {
        if (std::strncmp(line, kName, sizeof kName - 1) == 0) {
            char* end = nullptr;
            const long long seconds = std::strtoll(line + sizeof kName - 1, &end, 10);
            const long long rest = std::strtoll(end, nullptr, 10);
            constexpr long long kMost = kNever / kSecond - 1;
            if (seconds < -kMost || seconds > kMost || rest < 0 || rest >= kSecond) return 0;
            return seconds * kSecond + rest;
        }
        line = std::strchr(line, '\n');
        if (line != nullptr) ++line;
    }
    return 0;
}

void read_clock_offset() { offset_ns.store(read_offset(), std::memory_order_relaxed); }

std::int64_t now_ns() {
    Read read = reader.load(std::memory_order_acquire);
    if (read == nullptr) [[unlikely]]
        read = prepare();
    timespec now{};
    read(CLOCK_MONOTONIC, &now);
    return in_ns(now) - offset_ns.load(std::memory_order_relaxed);
}

std::int64_t time_in_namespace(std::int64_t host_ns) {
    if (reader.load(std::memory_order_acquire) == nullptr) prepare();
    std::int64_t there = 0;
    if (__builtin_add_overflow(host_ns, offset_ns.load(std::memory_order_relaxed), &there))
        return host_ns > 0 ? kNever : 0;
    return std::max<std::int64_t>(there, 0);
}

}  // namespace cgpu::front
