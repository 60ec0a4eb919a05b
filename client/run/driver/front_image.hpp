#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "client/run/files/descriptor.hpp"

namespace cgpu::client {

/// A shared library as bytes.
using Image = std::vector<std::byte>;

struct FrontImage {
    Image image;
    bool has_all = false;  ///< see elf::FittedExports
};

/// Builds the front library whose export table matches the driver's file: the front (a path on the host) with
/// the exports of the driver (open for reading, and called `name`).
[[nodiscard]] Result<FrontImage> fit_front(const std::string& front, const Descriptor& driver,
                                           const std::string& name);

}  // namespace cgpu::client
