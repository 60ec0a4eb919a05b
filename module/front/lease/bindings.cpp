#include "module/front/lease/bindings.hpp"

#include <new>

namespace cgpu::front {
namespace {

constinit Bindings the_bindings;

}  // namespace

Bindings& bindings() { return the_bindings; }

void Bindings::add(const Binding& binding) {
    auto* entry = new (std::nothrow) Binding(binding);
    if (entry == nullptr) return;  // nobody lets go of the memory then: the charge stays
    entry->next = bindings_;
    bindings_ = entry;
}

template <class Ends>
void Bindings::end(Ends ends) {
    mutex_.lock();
    Binding* ended = nullptr;
    for (Binding** place = &bindings_; *place != nullptr;) {
        Binding* each = *place;
        if (!ends(*each)) {
            place = &each->next;
            continue;
        }
        *place = each->next;
        each->next = ended;
        ended = each;
    }
    mutex_.unlock();
    while (ended != nullptr) {
        Binding* next = ended->next;
        physical().let_go(*ended->memory);
        delete ended;
        ended = next;
    }
}

void Bindings::bound(CUmemGenericAllocationHandle object, std::uint64_t offset, std::uint64_t bytes,
                     Physical::Memory& held) {
    const Locked lock(mutex_);
    add({User::multicast, object, offset, bytes, &held, nullptr});
}

void Bindings::unbound(CUmemGenericAllocationHandle object, int gpu, std::uint64_t offset,
                       std::uint64_t bytes) {
    end([&](const Binding& each) {
        return each.user == User::multicast && each.handle == object && each.offset == offset &&
               each.bytes == bytes && Physical::gpu_of(*each.memory) == gpu;
    });
}

void Bindings::handle_released(CUmemGenericAllocationHandle handle) {
    const Locked lock(mutex_);
    for (Binding* each = bindings_; each != nullptr; each = each->next)
        if (each->user == User::multicast && each->handle == handle) each->user = User::unknown;
}

void Bindings::mapped(const void* array, Physical::Memory& held) {
    const auto handle = reinterpret_cast<std::uintptr_t>(array);
    mutex_.lock();
    Binding* known = bindings_;
    while (known != nullptr &&
           (known->user != User::array || known->handle != handle || known->memory != &held))
        known = known->next;
    if (known == nullptr) add({User::array, handle, 0, 0, &held, nullptr});
    mutex_.unlock();
    if (known != nullptr) physical().let_go(held);
}

void Bindings::array_destroyed(const void* array) {
    const auto handle = reinterpret_cast<std::uintptr_t>(array);
    end([&](const Binding& each) { return each.user == User::array && each.handle == handle; });
}

void Bindings::reset_in_child() {
    mutex_.reset_in_child();
    bindings_ = nullptr;
}

}  // namespace cgpu::front
