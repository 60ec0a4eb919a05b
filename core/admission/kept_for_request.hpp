#pragma once

#include "core/request/request.hpp"

namespace cgpu::admission {

/// The kept settings of the devices that the request asks for.
[[nodiscard]] inline model::KeptOfInstance kept_for_request(const request::Request& request) {
    return {request.kept.begin(), request.kept.lower_bound(request.count)};
}

}  // namespace cgpu::admission
