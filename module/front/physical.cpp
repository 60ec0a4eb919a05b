#include "module/front/physical.hpp"

#include <new>

#include "module/front/charge.hpp"

namespace cgpu::front {
namespace {

constinit Physical the_physical;

}  // namespace

struct Physical::Memory {
    CUmemGenericAllocationHandle handle;
    int handles;
    int mappings;
    Memory* next;
};

struct Physical::Mapping {
    CUdeviceptr address;
    std::size_t bytes;
    Memory* memory;
    Mapping* next;
};

Physical& physical() { return the_physical; }

Physical::Memory* Physical::find(CUmemGenericAllocationHandle handle) {
    for (Memory* each = memories_; each != nullptr; each = each->next) {
        if (each->handle == handle) return each;
    }
    return nullptr;
}

/// True where the memory is gone; the caller, without the lock, ends the charge.
bool Physical::drop_if_unused(Memory& memory) {
    if (memory.handles > 0 || memory.mappings > 0) return false;
    for (Memory** place = &memories_; *place != nullptr; place = &(*place)->next) {
        if (*place != &memory) continue;
        *place = memory.next;
        delete &memory;
        return true;
    }
    return false;
}

bool Physical::created(CUmemGenericAllocationHandle handle) {
    auto* memory = new (std::nothrow) Memory{handle, 1, 0, nullptr};
    if (memory == nullptr) return false;
    const Locked lock(mutex_);
    memory->next = memories_;
    memories_ = memory;
    return true;
}

void Physical::retained(CUmemGenericAllocationHandle handle) {
    const Locked lock(mutex_);
    if (Memory* memory = find(handle)) ++memory->handles;
}

void Physical::handle_released(CUmemGenericAllocationHandle handle) {
    mutex_.lock();
    Memory* memory = find(handle);
    if (memory != nullptr) --memory->handles;
    const bool gone = memory != nullptr && drop_if_unused(*memory);
    mutex_.unlock();
    if (gone) released(module::Holding::physical, handle);
}

void Physical::mapped(CUdeviceptr address, std::size_t bytes, CUmemGenericAllocationHandle handle) {
    const Locked lock(mutex_);
    Memory* memory = find(handle);
    if (memory == nullptr) return;  // host memory, or imported: charged to the one who made it
    auto* mapping = new (std::nothrow) Mapping{address, bytes, memory, mappings_};
    if (mapping == nullptr) {
        ++memory->handles;  // never seen unmapped: the charge stays
        return;
    }
    mappings_ = mapping;
    ++memory->mappings;
}

void Physical::unmapped(CUdeviceptr address, std::size_t bytes) {
    while (true) {
        mutex_.lock();
        Mapping** place = &mappings_;
        while (*place != nullptr && ((*place)->address < address || (*place)->address - address >= bytes)) {
            place = &(*place)->next;
        }
        Mapping* mapping = *place;
        if (mapping == nullptr) {
            mutex_.unlock();
            return;
        }
        *place = mapping->next;
        const auto handle = mapping->memory->handle;
        --mapping->memory->mappings;
        const bool gone = drop_if_unused(*mapping->memory);
        delete mapping;
        mutex_.unlock();
        if (gone) released(module::Holding::physical, handle);
    }
}

void Physical::reset_in_child() {
    mutex_.reset_in_child();
    memories_ = nullptr;
    mappings_ = nullptr;
}

}  // namespace cgpu::front
