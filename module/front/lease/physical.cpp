#include "module/front/lease/physical.hpp"

#include <sys/stat.h>

#include <new>

#include "module/front/lease/freeing.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

constinit Physical the_physical;

/// Removes and returns the first entry of a list that fits; null: none does.
template <class Entry, class Fits>
Entry* take(Entry*& list, Fits fits) {
    for (Entry** place = &list; *place != nullptr; place = &(*place)->next) {
        if (!fits(**place)) continue;
        Entry* entry = *place;
        *place = entry->next;
        return entry;
    }
    return nullptr;
}

}  // namespace

struct Physical::Memory {
    CUdevice device;
    int handles = 0;  ///< and what holds it otherwise
    int mappings = 0;
    int exports = 0;

    /// The charge goes by the address of this record, which lives as long as the memory.
    [[nodiscard]] std::uint64_t key() const { return reinterpret_cast<std::uintptr_t>(this); }
};

/// A reference that the program must release.
struct Physical::Handle {
    CUmemGenericAllocationHandle value;
    Memory* memory;
    Handle* next;
};

struct Physical::Mapping {
    CUdeviceptr address;
    std::size_t bytes;
    Memory* memory;
    Mapping* next;
};

/// A descriptor counts as closed when its number refers to nothing, or to another file.
struct Physical::Export {
    int descriptor;
    dev_t device;
    ino_t inode;
    Memory* memory;
    Export* next;

    [[nodiscard]] bool open() const {
        struct stat now {};
        return fstat(descriptor, &now) == 0 && now.st_dev == device && now.st_ino == inode;
    }
};

Physical& physical() { return the_physical; }

Physical::Memory* Physical::find(CUmemGenericAllocationHandle handle) const {
    for (const Handle* each = handles_; each != nullptr; each = each->next)
        if (each->value == handle) return each->memory;
    return nullptr;
}

const Physical::Export* Physical::find_export(int descriptor) const {
    for (const Export* each = exports_; each != nullptr; each = each->next)
        if (each->descriptor == descriptor && each->open()) return each;
    return nullptr;
}

/// Records a reference that is counted already. Without an entry its release is never seen, and the charge
/// stays.
bool Physical::note_handle(CUmemGenericAllocationHandle value, Memory& memory) {
    auto* handle = new (std::nothrow) Handle{value, &memory, handles_};
    if (handle == nullptr) return false;
    handles_ = handle;
    return true;
}

void Physical::close_exports(const Memory& memory) {
    const auto closed = [&](const Export& each) { return each.memory == &memory && !each.open(); };
    while (Export* gone = take(exports_, closed)) {
        --gone->memory->exports;
        delete gone;
    }
}

/// Drops memory that nothing keeps. The caller then settles its charge, without the lock.
Physical::Kept Physical::look_at(Memory& memory) {
    if (memory.handles > 0 || memory.mappings > 0) return Kept::here;
    close_exports(memory);
    if (memory.exports > 0) return Kept::by_descriptors;
    delete &memory;
    return Kept::no_more;
}

void Physical::settle(std::uint64_t key, Kept kept) {
    std::uint32_t gpu = 0;
    std::uint64_t bytes = 0;
    switch (kept) {
        case Kept::here:
            return;
        case Kept::by_descriptors:
            // The driver's figure for the process may lack it now, as it may lack the memory of pools.
            if (!session().engine().find(module::Holding::physical, key, &gpu, &bytes)) return;
            session().engine().resize(gpu, module::Holding::pool, key, bytes, 0);
            session().engine().release(module::Holding::physical, key);
            return;
        case Kept::no_more:
            if (!released(module::Holding::physical, key)) released(module::Holding::pool, key);
            return;
    }
}

std::uint64_t Physical::created(CUmemGenericAllocationHandle handle, CUdevice device) {
    auto* memory = new (std::nothrow) Memory{device, 1};
    if (memory == nullptr) return handle;  // no release of it is seen: the charge stays
    const Locked lock(mutex_);
    note_handle(handle, *memory);
    return memory->key();
}

void Physical::retained(CUmemGenericAllocationHandle handle, CUdeviceptr address) {
    const Locked lock(mutex_);
    for (const Mapping* each = mappings_; each != nullptr; each = each->next) {
        if (address < each->address || address - each->address >= each->bytes) continue;
        ++each->memory->handles;
        note_handle(handle, *each->memory);
        return;
    }
}

void Physical::handle_released(CUmemGenericAllocationHandle handle) {
    mutex_.lock();
    Handle* reference = take(handles_, [&](const Handle& each) { return each.value == handle; });
    if (reference == nullptr) return mutex_.unlock();
    Memory* memory = reference->memory;
    delete reference;
    mutex_.unlock();
    let_go(*memory);
}

bool Physical::mapped(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle) {
    const Locked lock(mutex_);
    Memory* memory = find(handle);
    if (memory == nullptr) return false;  // host memory, or imported: charged to the one who made it
    ++memory->mappings;                   // without an entry it is never seen unmapped: the charge stays
    auto* mapping = new (std::nothrow) Mapping{address, bytes, memory, mappings_};
    if (mapping != nullptr) mappings_ = mapping;
    return true;
}

void Physical::unmapped(CUdeviceptr address, std::size_t bytes) {
    while (true) {
        mutex_.lock();
        Mapping* mapping = take(mappings_, [&](const Mapping& each) {
            return each.address >= address && each.address - address < bytes;
        });
        if (mapping == nullptr) return mutex_.unlock();
        Memory* memory = mapping->memory;
        const auto key = memory->key();
        delete mapping;
        --memory->mappings;
        const Kept kept = look_at(*memory);
        mutex_.unlock();
        settle(key, kept);
    }
}

void Physical::exported(CUmemGenericAllocationHandle handle, int descriptor) {
    forget_export(descriptor);
    const Locked lock(mutex_);
    Memory* memory = find(handle);
    struct stat file {};
    if (memory == nullptr || fstat(descriptor, &file) != 0) return;
    ++memory->exports;  // without an entry it is never seen closed: the charge stays
    auto* entry = new (std::nothrow) Export{descriptor, file.st_dev, file.st_ino, memory, exports_};
    if (entry != nullptr) exports_ = entry;
}

Physical::Memory* Physical::hold(int descriptor) {
    const Locked lock(mutex_);
    const Export* own = find_export(descriptor);
    if (own == nullptr) return nullptr;
    ++own->memory->handles;
    return own->memory;
}

void Physical::imported(Memory& held, CUmemGenericAllocationHandle handle) {
    const Locked lock(mutex_);
    note_handle(handle, held);
}

void Physical::let_go(Memory& held) {
    mutex_.lock();
    const auto key = held.key();
    --held.handles;
    const Kept kept = look_at(held);
    mutex_.unlock();
    settle(key, kept);
}

Physical::Memory* Physical::hold_handle(CUmemGenericAllocationHandle handle) {
    const Locked lock(mutex_);
    Memory* memory = find(handle);
    if (memory != nullptr) ++memory->handles;
    return memory;
}

Physical::Memory* Physical::hold_next(CUdeviceptr& address, CUdeviceptr end) {
    const Locked lock(mutex_);
    const Mapping* next = nullptr;
    for (const Mapping* each = mappings_; each != nullptr; each = each->next) {
        if (each->address >= end || each->address + each->bytes <= address) continue;
        if (next == nullptr || each->address < next->address) next = each;
    }
    if (next == nullptr) return nullptr;
    address = next->address + next->bytes;
    ++next->memory->handles;
    return next->memory;
}

CUdevice Physical::device_of(const Memory& memory) { return memory.device; }

/// The number refers to another export now, so the former one is closed.
void Physical::forget_export(int descriptor) {
    mutex_.lock();
    Export* closed = take(exports_, [&](const Export& each) { return each.descriptor == descriptor; });
    if (closed == nullptr) return mutex_.unlock();
    Memory* memory = closed->memory;
    const auto key = memory->key();
    delete closed;
    --memory->exports;
    const Kept kept = look_at(*memory);
    mutex_.unlock();
    settle(key, kept);
}

bool Physical::drop_closed() {
    bool any = false;
    while (true) {
        mutex_.lock();
        const Export* closed = exports_;
        while (closed != nullptr &&
               (closed->memory->handles > 0 || closed->memory->mappings > 0 || closed->open()))
            closed = closed->next;
        if (closed == nullptr) {
            mutex_.unlock();
            return any;
        }
        Memory* memory = closed->memory;
        const auto key = memory->key();
        const Kept kept = look_at(*memory);
        mutex_.unlock();
        settle(key, kept);
        any = any || kept == Kept::no_more;
    }
}

void Physical::reset_in_child() {
    mutex_.reset_in_child();
    handles_ = nullptr;
    mappings_ = nullptr;
    exports_ = nullptr;
}

}  // namespace cgpu::front
