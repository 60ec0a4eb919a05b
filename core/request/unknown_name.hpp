#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/model/refusal.hpp"
#include "core/request/request.hpp"

/// Variables whose names begin like cgpu's own and are none of them: most likely a typo, and whoever made it
/// would get a whole GPU where a part was meant.
namespace cgpu::request {

/// What becomes of a request with such a variable.
enum class UnknownNames { refuse, warn };
/// `refuse` or `warn`. Error: what is wrong, without the text itself.
[[nodiscard]] tl::expected<UnknownNames, std::string> parse_unknown_names(std::string_view text);

struct UnknownName {
    std::string name;
    std::string value;
    std::string_view likely;  ///< the variable that was meant; empty: none is near
};

/// The first variable of CGPU_* and ALIYUN_COM_GPU_* that is none of SPEC's (S2, S4), none that Alibaba's
/// scheduler sets beside those, and none of cgpu's own tools. Nothing where CGPU_DISABLE says that the
/// container is none of cgpu's business.
[[nodiscard]] std::optional<UnknownName> find_unknown_name(const Variables& variables);

/// Refused (invalid), with the likely name.
[[nodiscard]] model::Refusal refuse_unknown_name(const UnknownName& unknown);

}  // namespace cgpu::request
