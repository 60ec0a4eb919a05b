#include "client/runtime/oci/json_file.hpp"

#include <fstream>

namespace cgpu::runtime {

Json read_json(const std::string& path) {
    std::ifstream file(path);
    return file.is_open() ? Json::parse(file, nullptr, false) : Json();
}

std::string text_at(const Json& json, const char* where) {
    const Json::json_pointer pointer(where);
    return json.is_object() && json.contains(pointer) && json[pointer].is_string()
               ? json[pointer].get<std::string>()
               : std::string();
}

}  // namespace cgpu::runtime
