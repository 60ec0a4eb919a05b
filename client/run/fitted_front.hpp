#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/node/client_error.hpp"
#include "client/run/descriptor.hpp"

namespace cgpu::client {

/// A shared library as bytes.
using Image = std::vector<std::byte>;

/// The front (a path on the host) without the exports that the driver's file (open for reading, and called
/// `name`) lacks.
[[nodiscard]] Result<Image> fit_front(const std::string& front, const Descriptor& driver,
                                      const std::string& name);

}  // namespace cgpu::client
