#pragma once

#include "tests/sim/device/layout/layout.hpp"

namespace simgpu {

/// Makes a change of the shared state all or nothing, whatever instant the process is killed at.
/// Save what you are going to change, change it, commit. To be used under the device lock.
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
    /// Undoes what a killed process left half done. @return whether there was anything.
    bool roll_back();

  private:
    Layout& layout_;
};

}  // namespace simgpu
