#pragma once

#include <string>

#include "client/node/values/client_error.hpp"
#include "core/model/refusal.hpp"

namespace cgpu::client {

/// Converts a refusal of a check that both programs share into a client's error with its exit code.
[[nodiscard]] inline tl::unexpected<ClientError> refused(const model::Refusal& refusal) {
    using Kind = ClientError::Kind;
    const bool missing = refusal.reason == model::Refusal::Reason::not_found;
    const bool fault = refusal.reason == model::Refusal::Reason::storage;
    return fail(missing ? Kind::not_found : fault ? Kind::failed : Kind::refused, refusal.text);
}

}  // namespace cgpu::client
