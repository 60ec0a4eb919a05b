#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/device/file/device.hpp"
#include "tests/sim/driver/base/abi.hpp"

namespace simgpu {

/// This process on the device: the slot to which it is charged, and the GPUs that it sees.
class Process {
  public:
    Process(std::unique_ptr<Device> device, std::vector<std::uint32_t> visible);

    /// Takes a slot, and holds it until the process's end.
    CUresult enter();

    Device& device() const { return *device_; }
    std::uint32_t slot() const { return slot_; }
    std::uint32_t visible_count() const { return static_cast<std::uint32_t>(visible_.size()); }
    std::uint32_t gpu_of(std::uint32_t ordinal) const { return visible_[ordinal]; }
    const Card& card(std::uint32_t ordinal) const { return device_->card(gpu_of(ordinal)); }
    /// @return nothing if the GPU isn't visible to this process.
    std::optional<std::uint32_t> ordinal_of(std::uint32_t gpu) const;
    bool is_ordinal(int device) const { return device >= 0 && device < static_cast<int>(visible_.size()); }

  private:
    std::unique_ptr<Device> device_;
    FileLock alive_;
    std::uint32_t slot_ = kMaxProcesses;
    std::vector<std::uint32_t> visible_;
};

}  // namespace simgpu
