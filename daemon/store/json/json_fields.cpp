#include "daemon/store/json/json_fields.hpp"

#include <nlohmann/json.hpp>

#include "core/model/quote.hpp"

namespace cgpu::store {

using nlohmann::json;

Fields::Fields(const json& object, std::string place, std::string& error)
    : json_(object), place_(std::move(place)), error_(error) {
    if (!json_.is_object()) fail(place_.empty() ? "the document" : place_, "it is not an object");
}

std::string Fields::place_of(const char* name) const { return place_.empty() ? name : place_ + "." + name; }

void Fields::fail(const std::string& place, const std::string& why) {
    if (error_.empty()) error_ = place + ": " + why;
}

const json* Fields::find(const char* name, const char* kind, bool (*is_kind)(const json&)) {
    asked_.insert(name);
    if (!json_.is_object()) return nullptr;
    const auto it = json_.find(name);
    if (it == json_.end()) {
        fail(place_of(name), "it is missing");
    } else if (!is_kind(*it)) {
        fail(place_of(name), std::string("it is not ") + kind);
    } else {
        return &*it;
    }
    return nullptr;
}

std::uint64_t Fields::number(const char* name, std::uint64_t max) {
    const json* value = find(name, "a whole number", [](const json& j) { return j.is_number_unsigned(); });
    if (value == nullptr) return 0;
    const auto number = value->get<std::uint64_t>();
    if (number > max) fail(place_of(name), "it is too large");
    return number > max ? 0 : number;
}

std::uint32_t Fields::number32(const char* name) {
    return static_cast<std::uint32_t>(number(name, std::numeric_limits<std::uint32_t>::max()));
}

std::string Fields::text(const char* name) {
    const json* value = find(name, "a text", [](const json& j) { return j.is_string(); });
    return value == nullptr ? "" : value->get<std::string>();
}

bool Fields::flag(const char* name) {
    const json* value = find(name, "true or false", [](const json& j) { return j.is_boolean(); });
    return value != nullptr && value->get<bool>();
}

const json* Fields::array(const char* name) {
    return find(name, "a list", [](const json& j) { return j.is_array(); });
}

const json* Fields::object(const char* name) {
    return find(name, "an object", [](const json& j) { return j.is_object(); });
}

const json* Fields::object_if_there(const char* name) {
    asked_.insert(name);
    if (!json_.is_object() || !json_.contains(name)) return nullptr;
    return object(name);
}

void Fields::refuse_others() {
    if (!json_.is_object()) return;
    for (const auto& [name, value] : json_.items())
        if (!asked_.contains(name))
            fail(place_.empty() ? "the document" : place_, model::quote(name) + " is unknown");
}

}  // namespace cgpu::store
