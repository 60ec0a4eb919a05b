#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "core/request/request.hpp"

/// Variables whose names begin like cgpu's own but are unknown: most likely a typo, and the container would
/// get a whole GPU instead of a part.
namespace cgpu::request {

/// What happens to a request with such a variable.
enum class UnknownNames { refuse, warn };
/// `refuse` or `warn`. Error: what is wrong, without the text itself.
[[nodiscard]] tl::expected<UnknownNames, std::string> parse_unknown_names(std::string_view text);

struct UnknownName {
    std::string name;
    std::string value;
    std::string_view likely;  ///< the variable that was probably meant; empty: none is similar
};

/// The first variable of CGPU_* and ALIYUN_COM_GPU_* that is not one of a request (docs/requests.md), not set
/// by Alibaba's scheduler beside those, and not used by cgpu's own tools. Empty if CGPU_DISABLE is set: cgpu
/// ignores the container then.
[[nodiscard]] std::optional<UnknownName> find_unknown_name(const Variables& variables);

/// Refused (invalid), with the likely name.
[[nodiscard]] model::Refusal refuse_unknown_name(const UnknownName& unknown);

}  // namespace cgpu::request
