#pragma once

#include <string>
#include <string_view>

namespace cgpu::model {

/// The part `what: why` of a refusal `what: why. Try: remedy.`, to continue in the same sentence.
[[nodiscard]] inline std::string reason_in(std::string_view refusal) {
    const auto remedy = refusal.find(". Try: ");
    if (remedy == std::string_view::npos && refusal.ends_with('.')) refusal.remove_suffix(1);
    return std::string(refusal.substr(0, remedy));
}

}  // namespace cgpu::model
