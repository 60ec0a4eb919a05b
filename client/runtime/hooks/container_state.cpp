#include "client/runtime/hooks/container_state.hpp"

#include <nlohmann/json.hpp>

namespace cgpu::runtime {

std::optional<ContainerState> read_container_state(std::istream& input) {
    const auto state = nlohmann::json::parse(input, nullptr, false);
    if (!state.is_object()) return std::nullopt;
    const auto id = state.find("id");
    const auto bundle = state.find("bundle");
    if (id == state.end() || !id->is_string() || bundle == state.end() || !bundle->is_string())
        return std::nullopt;
    const auto pid = state.find("pid");
    const bool has_pid = pid != state.end() && pid->is_number_unsigned();
    return ContainerState{id->get<std::string>(), bundle->get<std::string>(),
                          has_pid ? pid->get<std::uint32_t>() : 0};
}

}  // namespace cgpu::runtime
