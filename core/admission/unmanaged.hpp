#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/model/node.hpp"
#include "core/request/request.hpp"

/// Containers that get GPUs and ask for no part of one: no limit is enforced for them.
namespace cgpu::admission {

/// What happens to such a container.
enum class Unmanaged : std::uint32_t {
    allow,   ///< it starts; what it holds is not free for others
    whole,   ///< it gets its GPUs whole, so that nobody else is put there; refused if somebody is there
    refuse,  ///< it doesn't start
};

[[nodiscard]] std::string_view to_string(Unmanaged unmanaged);
/// `allow`, `whole` or `refuse`. Error: what is wrong, without the text itself.
[[nodiscard]] tl::expected<Unmanaged, std::string> parse_unmanaged(std::string_view text);

/// The quotas by which a container, described as `what`, books whole GPUs: those, or all that are present if
/// none is named. Refused (busy): somebody is on one of them, or it is drained; also as Node::check_quota().
[[nodiscard]] tl::expected<std::vector<model::Quota>, model::Refusal> book_whole(
    const model::Node& node, const std::string& what, const std::vector<model::Uuid>& gpus);

/// The refusal of such a container, described as `what`, under Unmanaged::refuse.
[[nodiscard]] model::Refusal refuse_unmanaged(const std::string& what);

/// Whether a request may have the mode that it names itself: under another rule than allow not mode none, by
/// which it would get whole GPUs without a limit for any amount, unless the administrator has the GPUs of its
/// quotas, or the node (`of_node`), in mode none.
[[nodiscard]] tl::expected<void, model::Refusal> check_mode(Unmanaged rule, const model::Node& node,
                                                            std::optional<model::Mode> of_node,
                                                            const request::Request& request,
                                                            const std::vector<model::Quota>& quotas);

}  // namespace cgpu::admission
