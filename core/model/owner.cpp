#include "core/model/owner.hpp"

#include <algorithm>

namespace cgpu::model {

tl::expected<void, std::string_view> check_owner_name(std::string_view name) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_allowed = [&](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               std::string_view("._-+@").find(c) != std::string_view::npos;
    };
    if (name.size() > kMaxOwnerName) return tl::unexpected(std::string_view("it is longer than 64 bytes"));
    if (name.empty() || !std::ranges::all_of(name, is_allowed))
        return tl::unexpected(std::string_view("it is no name of a user: letters, digits and ._-+@"));
    if (std::ranges::all_of(name, is_digit))
        return tl::unexpected(std::string_view("it is a number, and no name"));
    return {};
}

std::string describe(const Owner& owner) {
    if (owner.user) return "user id " + std::to_string(*owner.user);
    return owner.declared.empty() ? "nobody known" : owner.declared + " (declared)";
}

}  // namespace cgpu::model
