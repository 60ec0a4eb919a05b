#include "module/front/lease/physical.hpp"

#include <sys/stat.h>

#include <new>
#include <utility>

#include "module/front/lease/freeing.hpp"
#include "module/front/lease/gives.hpp"
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

struct Physical::Charge {
    module::Holding kind;
    std::uint64_t key;
    std::uint32_t gpu;
    std::uint64_t bytes;
};

struct Physical::Memory {
    Charge charge;
    int handles = 0;  ///< and what holds it otherwise
    int mappings = 0;
    bool exported = false;  ///< or about to be

    Memory(module::Holding kind, std::uint64_t key, std::uint32_t gpu, std::uint64_t bytes)
        : charge{kind, key, gpu, bytes}, handles(1) {}

    /// The address of this record, which lives as long as the memory.
    [[nodiscard]] std::uint64_t own_key() const { return reinterpret_cast<std::uintptr_t>(this); }
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

/// Drops memory that the process doesn't hold any more. The caller then settles its charge, without the lock.
Physical::Held Physical::look_at(Memory& memory, Charge& charge) {
    charge = memory.charge;
    if (memory.handles > 0 || memory.mappings > 0) return Held::yes;
    const bool exported = memory.exported;
    while (Export* gone = take(exports_, [&](const Export& each) { return each.memory == &memory; }))
        delete gone;
    delete &memory;
    return exported ? Held::unknown : Held::no;
}

void Physical::settle(const Charge& charge, Held held) {
    switch (held) {
        case Held::yes:
            return;
        case Held::no:
            released(charge.kind, charge.key);
            return;
        case Held::unknown:
            gives().surrender(charge.gpu, charge.kind, charge.key, charge.bytes);
            return;
    }
}

std::uint64_t Physical::created(CUmemGenericAllocationHandle handle, int gpu, std::uint64_t bytes) {
    auto* memory =
        new (std::nothrow) Memory(module::Holding::physical, 0, static_cast<std::uint32_t>(gpu), bytes);
    if (memory == nullptr) return handle;  // no release of it is seen: the charge stays
    memory->charge.key = memory->own_key();
    const Locked lock(mutex_);
    note_handle(handle, *memory);
    return memory->own_key();
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
        Charge charge{};
        delete mapping;
        --memory->mappings;
        const Held held = look_at(*memory, charge);
        mutex_.unlock();
        settle(charge, held);
    }
}

void Physical::note_export(Memory& memory) {
    if (!std::exchange(memory.exported, true)) gives().will_export(memory.charge.gpu, memory.charge.bytes);
}

void Physical::will_export(CUmemGenericAllocationHandle handle) {
    const Locked lock(mutex_);
    if (Memory* memory = find(handle)) note_export(*memory);
}

bool Physical::will_export_range(CUdeviceptr begin, std::size_t bytes) {
    const Locked lock(mutex_);
    bool any = false;
    for (const Mapping* each = mappings_; each != nullptr; each = each->next) {
        if (each->address >= begin + bytes || each->address + each->bytes <= begin) continue;
        note_export(*each->memory);
        any = true;
    }
    return any;
}

void Physical::will_export_allocation(CUdeviceptr address) {
    std::uint32_t gpu = 0;
    std::uint64_t bytes = 0;
    if (!session().engine().find(module::Holding::address, address, &gpu, &bytes)) return;
    const Locked lock(mutex_);
    Handle* known = allocations_;
    while (known != nullptr && known->value != address) known = known->next;
    if (known == nullptr) {
        auto* memory = new (std::nothrow) Memory(module::Holding::address, address, gpu, bytes);
        if (memory == nullptr) return;  // its charge ends when it is freed
        known = new (std::nothrow) Handle{address, memory, allocations_};
        if (known == nullptr) return delete memory;
        allocations_ = known;
        any_allocation_.store(true);
    }
    note_export(*known->memory);
}

void Physical::exported(CUmemGenericAllocationHandle handle, int descriptor) {
    struct stat file {};
    if (fstat(descriptor, &file) != 0) return;
    const Locked lock(mutex_);
    // The number refers to this export now.
    while (Export* closed = take(exports_, [&](const Export& each) { return each.descriptor == descriptor; }))
        delete closed;
    Memory* memory = find(handle);
    if (memory == nullptr) return;
    auto* entry = new (std::nothrow) Export{descriptor, file.st_dev, file.st_ino, memory, exports_};
    if (entry != nullptr) exports_ = entry;
}

bool Physical::allocation_freed(CUdeviceptr address) {
    // Nearly no program exports allocations, so frees don't take the lock for that.
    if (!any_allocation_.load()) return false;
    mutex_.lock();
    const Handle* allocation = take(allocations_, [&](const Handle& each) { return each.value == address; });
    mutex_.unlock();
    if (allocation == nullptr) return false;
    Memory* memory = allocation->memory;
    delete allocation;
    let_go(*memory);
    return true;
}

void Physical::context_ended() {
    const auto freed = [](const Handle& each) {
        std::uint32_t gpu = 0;
        std::uint64_t bytes = 0;
        return !session().engine().find(module::Holding::address, each.value, &gpu, &bytes);
    };
    while (true) {
        mutex_.lock();
        const Handle* allocation = take(allocations_, freed);
        // The charge has ended. The address may be another allocation's soon.
        if (allocation != nullptr) allocation->memory->charge.key = 0;
        mutex_.unlock();
        if (allocation == nullptr) return;
        Memory* memory = allocation->memory;
        delete allocation;
        let_go(*memory);
    }
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
    Charge charge{};
    --held.handles;
    const Held now = look_at(held, charge);
    mutex_.unlock();
    settle(charge, now);
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

int Physical::gpu_of(const Memory& memory) { return static_cast<int>(memory.charge.gpu); }

void Physical::reset_in_child() {
    mutex_.reset_in_child();
    handles_ = nullptr;
    allocations_ = nullptr;
    any_allocation_.store(false);
    mappings_ = nullptr;
    exports_ = nullptr;
}

}  // namespace cgpu::front
