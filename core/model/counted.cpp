#include "core/model/counted.hpp"

namespace cgpu::model {

std::string counted(std::size_t number, std::string_view noun) {
    const char* ending = number == 1 ? "" : noun.ends_with('s') ? "es" : "s";
    return std::to_string(number) + " " + std::string(noun) + ending;
}

}  // namespace cgpu::model
