#include "module/front/link/undumpable.hpp"

#include <fcntl.h>
#include <link.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "module/front/base/loading.hpp"
#include "module/front/base/system_call.hpp"

namespace cgpu::front {
namespace undumpable {

/// Of the calling thread.
struct Credentials {
    std::array<uid_t, 4> users;  ///< real, effective, saved, of the file system
    std::array<gid_t, 4> groups;

    static Credentials now() {
        Credentials its{};
        system_call(SYS_getresuid, &its.users[0], &its.users[1], &its.users[2]);
        system_call(SYS_getresgid, &its.groups[0], &its.groups[1], &its.groups[2]);
        // An id that can't be set: the call returns the present one.
        its.users[3] = static_cast<uid_t>(system_call(SYS_setfsuid, -1));
        its.groups[3] = static_cast<gid_t>(system_call(SYS_setfsgid, -1));
        return its;
    }
    bool operator==(const Credentials&) const = default;
};

/// One in each front; those of one process use the first one's. Versions of the front that have another form
/// of it have another kNoteType.
struct Shared {
    pthread_mutex_t mutex;  ///< recursive: each front has its own handlers of forks
    std::uint32_t objects;
    bool changed;  ///< by a front, which puts it back
    Credentials before;

    void lock() { pthread_mutex_lock(&mutex); }
    void unlock() { pthread_mutex_unlock(&mutex); }

    void hide() {
        ++objects;
        // A value of 2, or a refusal, is left as it is.
        if (system_call(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) != 1) return;
        const auto its = Credentials::now();
        if (system_call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return;
        if (!changed) before = its;
        changed = true;
    }
    void put_back() {
        if (objects != 0 || !changed) return;
        changed = false;
        if (before == Credentials::now() && system_call(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) == 0)
            system_call(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0);
    }
};

}  // namespace undumpable

extern "C" {
[[gnu::visibility("hidden"), gnu::used]] constinit undumpable::Shared cgpu_front_undumpable{
    PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, 0, false, {}};
}

// How the fronts of a process find each other's state: a note with its distance. (A symbol would be found by
// programs, too, and not in a library that was opened with RTLD_LOCAL.)
__asm__(
    ".pushsection .note.cgpu,\"a\",@note\n"
    ".balign 4\n"
    ".long 5, 4, 0x68696431\n"
    ".asciz \"cgpu\"\n"
    ".balign 4\n"
    ".long cgpu_front_undumpable - .\n"
    ".popsection");

namespace {

using undumpable::Shared;

constexpr char kNoteName[] = "cgpu";
constexpr std::uint32_t kNoteType = 0x68696431;  // "hid1", as above

/// Found at first use, and the same for each front: libraries are listed in the order in which they were
/// loaded, and fronts are never unloaded.
constinit std::atomic<Shared*> first_state{nullptr};
/// Objects of this front that live; under the lock of that state.
constinit std::uint32_t own_objects = 0;
constinit std::uint32_t generation = 0;  ///< forks in the process's descent since this front was loaded

/// The state at which a front's note in [at, end) points; null: there is none.
Shared* find_note(const char* at, const char* end) {
    const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
    while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        std::memcpy(&header, at, sizeof header);
        const char* name = at + sizeof header;
        if (static_cast<std::size_t>(end - name) < padded(header.n_namesz) + padded(header.n_descsz)) break;
        const char* content = name + padded(header.n_namesz);
        if (header.n_type == kNoteType && header.n_namesz == sizeof kNoteName &&
            header.n_descsz == sizeof(std::int32_t) && std::memcmp(name, kNoteName, sizeof kNoteName) == 0) {
            std::int32_t distance = 0;
            std::memcpy(&distance, content, sizeof distance);
            return reinterpret_cast<Shared*>(const_cast<char*>(content) + distance);
        }
        at = content + padded(header.n_descsz);
    }
    return nullptr;
}

int take_first_note(dl_phdr_info* library, std::size_t /*size*/, void* result) {
    for (unsigned i = 0; i < library->dlpi_phnum; ++i) {
        const auto& part = library->dlpi_phdr[i];
        if (part.p_type != PT_NOTE) continue;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives the address as a number
        const auto* at = reinterpret_cast<const char*>(library->dlpi_addr + part.p_vaddr);
        Shared* found = find_note(at, at + part.p_memsz);
        if (found == nullptr) continue;
        *static_cast<Shared**>(result) = found;
        return 1;
    }
    return 0;
}

/// Ids that this user namespace has no number for are shown as this one.
constexpr uid_t kUnmappedId = 65534;

/// The owner of a file; -1: it isn't one of /proc, or can't be asked. A filter that only answers for the
/// kernel leaves the values as they are here.
std::int64_t owner_in_proc(const char* path) {
    const auto file = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0));
    if (file < 0) return -1;
    struct statfs system {};
    struct stat info {};
    constexpr auto kNobodySaid = static_cast<uid_t>(-1);
    info.st_uid = kNobodySaid;
    const bool asked = system_call(SYS_fstatfs, file, &system) == 0 && system.f_type == PROC_SUPER_MAGIC &&
                       system_call(SYS_fstat, file, &info) == 0 && info.st_uid != kNobodySaid;
    system_call(SYS_close, file);
    return asked ? std::int64_t{info.st_uid} : -1;
}

/// Whether a filter of system calls may have answered for the kernel. True also if that can't be told.
bool may_be_filtered() {
    const auto file = static_cast<int>(
        system_call(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0));
    if (file < 0) return true;
    struct statfs system {};
    std::array<char, 4096> text{};
    const bool is_proc = system_call(SYS_fstatfs, file, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    const auto got = is_proc ? system_call(SYS_read, file, text.data(), text.size()) : 0;
    system_call(SYS_close, file);
    const std::string_view read(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return read.find("\nSeccomp:\t0\n") == std::string_view::npos;
}

Shared& state() {
    Shared* found = first_state.load(std::memory_order_acquire);
    if (found != nullptr) return *found;
    {
        const Loading guard;
        dl_iterate_phdr(take_first_note, &found);
    }
    if (found == nullptr) found = &cgpu_front_undumpable;
    first_state.store(found, std::memory_order_release);
    return *found;
}

}  // namespace

Undumpable::Undumpable() {
    Shared& shared = state();
    shared.lock();
    ++own_objects;
    generation_ = generation;
    shared.hide();
    shared.unlock();
}

Undumpable::~Undumpable() {
    Shared& shared = state();
    shared.lock();
    if (generation_ == generation) {
        --own_objects;
        --shared.objects;
        shared.put_back();
    }
    shared.unlock();
}

bool Undumpable::holds() {
    if (system_call(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) == 1) return false;
    const auto own = static_cast<uid_t>(system_call(SYS_geteuid));
    if (own == 0) return true;
    // The kernel makes its owner root's only where others may not read it in any case.
    const auto owner = owner_in_proc("/proc/thread-self/environ");
    if (owner != std::int64_t{own}) return owner >= 0;
    // Here root may have no number of its own, or this very one: a sandbox that root has made for another
    // user id. Then the owner says nothing, and the kernel's own answer counts.
    return (own == kUnmappedId && owner_in_proc("/proc") == std::int64_t{kUnmappedId}) || !may_be_filtered();
}

void Undumpable::before_fork() { state().lock(); }

void Undumpable::after_fork_in_parent() { state().unlock(); }

void Undumpable::after_fork_in_child() {
    Shared& shared = state();
    // The parent's thread holds it.
    shared.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    ++generation;
    shared.objects -= own_objects;
    own_objects = 0;
    shared.put_back();
}

}  // namespace cgpu::front
