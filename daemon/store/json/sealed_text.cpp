#include "daemon/store/json/sealed_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include "core/history/checksum.hpp"

namespace cgpu::store {
namespace {

constexpr std::string_view kEnd = "\n}\n";

std::string seal_for(std::string_view text) {
    const auto checksum = history::checksum(std::as_bytes(std::span(text)));
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(checksum));
    return std::string(",\n  \"") + kChecksum + "\": \"" + digits.data() + "\"";
}

}  // namespace

std::string sealed(std::string text) {
    text.resize(text.size() - kEnd.size());
    text += seal_for(text);
    text += kEnd;
    return text;  // moved, which a reference to it would not be
}

Seal seal_of(std::string_view text) {
    // In a string of JSON a line end is escaped, so this is no one's name.
    const auto at = text.rfind(std::string(",\n  \"") + kChecksum + "\": ");
    if (at == std::string_view::npos) return Seal::none;
    const auto rest = text.substr(at);
    const auto seal = seal_for(text.substr(0, at));
    // Spaces may follow that make the file longer.
    return rest.starts_with(seal) && rest.substr(seal.size()).starts_with(kEnd.substr(0, 2)) ? Seal::whole
                                                                                             : Seal::broken;
}

}  // namespace cgpu::store
