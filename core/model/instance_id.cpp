#include "core/model/instance_id.hpp"

#include <algorithm>

#include "core/model/quote.hpp"

namespace cgpu::model {
namespace {

constexpr std::size_t kMaxLength = 128;

bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_allowed(char c) { return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-'; }

}  // namespace

tl::expected<InstanceId, std::string> InstanceId::parse(std::string_view text) {
    if (text.empty()) return tl::unexpected(std::string("the instance id is empty"));
    if (text.size() > kMaxLength)
        return tl::unexpected("the instance id " + quote(text) + " is longer than 128 characters");
    if (!is_letter_or_digit(text.front()) || !std::all_of(text.begin(), text.end(), is_allowed))
        return tl::unexpected("the instance id " + quote(text) +
                              " has other characters than letters, digits, _ . - (a letter or digit first)");
    return InstanceId(text);
}

}  // namespace cgpu::model
