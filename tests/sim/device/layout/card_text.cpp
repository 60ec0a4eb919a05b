#include "tests/sim/device/layout/card_text.hpp"

#include <cstdio>

namespace simgpu {

std::string uuid_text(const Card& card) {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < card.uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        char byte[3];
        std::snprintf(byte, sizeof byte, "%02x", card.uuid[i]);
        text += byte;
    }
    return text;
}

std::string pci_bus_id(const Card& card, int domain_digits) {
    char text[32];
    std::snprintf(text, sizeof text, "%0*X:%02X:%02X.0", domain_digits, card.pci_domain, card.pci_bus,
                  card.pci_device);
    return text;
}

}  // namespace simgpu
