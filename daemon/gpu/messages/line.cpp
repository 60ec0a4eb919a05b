#include "daemon/gpu/messages/line.hpp"

namespace cgpu::gpu {
namespace {

constexpr int kMostDepth = 5;  // an answer has four, and its values are one deeper

[[noreturn]] void wrong(const char* name, const char* why) {
    throw Malformed{std::string(name) + ": " + why};
}

}  // namespace

Json read_line(std::string_view line) {
    bool too_deep = false;
    const auto look = [&too_deep](int depth, Json::parse_event_t, const Json&) {
        too_deep = too_deep || depth > kMostDepth;
        return depth <= kMostDepth;
    };
    Json message = Json::parse(line, look, false);
    if (too_deep || !message.is_object()) throw Malformed{"it is no JSON object of a few levels"};
    return message;
}

std::string write_line(const Json& message) {
    return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& field(const Json& object, const char* name) {
    if (!object.is_object()) wrong(name, "what should have it is no object");
    const auto found = object.find(name);
    if (found == object.end()) wrong(name, "it is missing");
    return *found;
}

const Json& array(const Json& object, const char* name) {
    const Json& value = field(object, name);
    if (!value.is_array()) wrong(name, "it is no array");
    return value;
}

std::uint64_t number(const Json& object, const char* name, std::uint64_t max) {
    const Json& value = field(object, name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max)
        wrong(name, "it is no number in its range");
    return value.get<std::uint64_t>();
}

std::string text(const Json& object, const char* name) {
    const Json& value = field(object, name);
    if (!value.is_string()) wrong(name, "it is no text");
    return value.get<std::string>();
}

model::Uuid uuid(const Json& object, const char* name) {
    const auto parsed = model::Uuid::parse(text(object, name));
    if (!parsed) throw Malformed{std::string(name) + ": " + parsed.error()};
    return *parsed;
}

}  // namespace cgpu::gpu
