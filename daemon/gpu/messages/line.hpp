#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/model/uuid.hpp"

/// Reads and writes lines of JSON. Everything that reads throws Malformed, whose text says what is wrong,
/// without a full stop; the parsers of questions and answers catch it.
namespace cgpu::gpu {

struct Malformed {
    std::string why;
};

using Json = nlohmann::json;

/// An object, nested at most four levels deep: deeper ones are no message.
[[nodiscard]] Json read_line(std::string_view line);
/// Bytes that are no UTF-8 are replaced: the driver's texts are not checked for that.
[[nodiscard]] std::string write_line(const Json& message);

[[nodiscard]] const Json& field(const Json& object, const char* name);
[[nodiscard]] const Json& array(const Json& object, const char* name);
[[nodiscard]] std::uint64_t number(const Json& object, const char* name,
                                   std::uint64_t max = std::numeric_limits<std::uint64_t>::max());
[[nodiscard]] std::string text(const Json& object, const char* name);
[[nodiscard]] model::Uuid uuid(const Json& object, const char* name);

}  // namespace cgpu::gpu
