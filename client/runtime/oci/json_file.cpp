#include "client/runtime/oci/json_file.hpp"

#include "files/read.hpp"

namespace cgpu::runtime {

Json read_json(const std::string& path) {
    constexpr std::size_t kMost = std::size_t{64} << 20;
    const auto text = files::read_text(path, kMost);
    return text ? Json::parse(*text, nullptr, false) : Json();
}

std::string text_at(const Json& json, const char* where) {
    const Json::json_pointer pointer(where);
    return json.is_object() && json.contains(pointer) && json[pointer].is_string()
               ? json[pointer].get<std::string>()
               : std::string();
}

}  // namespace cgpu::runtime
