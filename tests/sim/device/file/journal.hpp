#pragma once

#include "tests/sim/device/layout/layout.hpp"

namespace simgpu {

/// Makes a change of the shared state atomic, at whatever instant the process is killed. Save what is going
/// to change, change it, then commit. The caller must hold the device lock.
class Journal {
  public:
    explicit Journal(Layout& layout) : layout_(layout) {}

    template <typename T>
    void save(const T& object) {
        save(&object, sizeof object);
    }
    void save(const void* at, std::uint64_t bytes);
    void save_timeline();
    void commit();
    /// Undoes what a killed process left half done. @return whether there was such a change.
    bool roll_back();

  private:
    Layout& layout_;
};

}  // namespace simgpu
