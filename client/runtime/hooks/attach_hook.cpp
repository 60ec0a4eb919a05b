#include "client/runtime/hooks/attach_hook.hpp"

#include <nlohmann/json.hpp>

namespace cgpu::runtime {

client::Result<void> attach_hook(const std::string& id, std::istream& input, client::Node& node) {
    const auto state = nlohmann::json::parse(input, nullptr, false);
    const auto pid = state.is_object() ? state.find("pid") : state.end();
    if (!state.is_object() || pid == state.end() || !pid->is_number_unsigned())
        return client::fail(client::ClientError::Kind::failed,
                            "container " + id.substr(0, 12) +
                                ": the runtime gave no state with its pid. Try: use runc or crun.");
    return node.attach(id, pid->get<std::uint32_t>());
}

}  // namespace cgpu::runtime
