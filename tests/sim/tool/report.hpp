#pragma once

#include <nlohmann/json.hpp>

#include "tests/sim/device/file/device.hpp"

namespace simgpu {

/// The cards of the device: index, uuid, name, pci, memory_bytes, reserved_bytes, context_bytes.
nlohmann::ordered_json gpus_report(Device& device);

/// Advances the GPUs to the present, frees what dead processes held, then shows what each process holds and
/// has had.
nlohmann::ordered_json ledger_report(Device& device);

}  // namespace simgpu
