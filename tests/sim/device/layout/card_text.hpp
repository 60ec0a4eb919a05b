#pragma once

#include <string>

#include "tests/sim/device/layout/card.hpp"

namespace simgpu {

/// "GPU-" and the UUID in the usual form.
std::string uuid_text(const Card& card);

/// "00000000:3B:00.0" with eight digits of domain, or four.
std::string pci_bus_id(const Card& card, int domain_digits);

}  // namespace simgpu
