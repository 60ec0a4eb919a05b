#pragma once

#include "module/front/base/waiting.hpp"
#include "module/front/lease/physical.hpp"

namespace cgpu::front {

/// Physical memory that a multicast object or a sparse array uses: it lives on after its handles have been
/// released and its own mappings are undone, so it stays charged. What is bound to a multicast object stays
/// so until it is unbound, for the object may live on in another process. What is mapped into an array stays
/// so until the array is destroyed, for a stream decides when an unmapping takes effect.
///
/// Where the end isn't seen, or there is no memory to record it, the charge stays until the process ends.
class Bindings {
  public:
    constexpr Bindings() = default;

    /// `held`, which was held for this, was bound to so many bytes of a multicast object.
    void bound(CUmemGenericAllocationHandle object, std::uint64_t offset, std::uint64_t bytes,
               Physical::Memory& held);
    void unbound(CUmemGenericAllocationHandle object, int gpu, std::uint64_t offset, std::uint64_t bytes);
    /// A handle was released: its value may become another object's.
    void handle_released(CUmemGenericAllocationHandle handle);

    /// `held`, which was held for this, was mapped into an array or a mipmapped array.
    void mapped(const void* array, Physical::Memory& held);
    void array_destroyed(const void* array);

    void reset_in_child();

  private:
    enum class User { multicast, array, unknown };
    struct Binding {
        User user;
        std::uint64_t handle;  ///< of the user
        std::uint64_t offset;  ///< bytes; arrays: 0
        std::uint64_t bytes;   ///< arrays: 0
        Physical::Memory* memory;
        Binding* next;
    };

    void add(const Binding& binding);
    template <class Ends>
    void end(Ends ends);

    Mutex mutex_;
    Binding* bindings_ = nullptr;
};

Bindings& bindings();

}  // namespace cgpu::front
