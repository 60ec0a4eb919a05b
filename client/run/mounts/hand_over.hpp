#pragma once

#include <string>
#include <vector>

#include "client/node/client_error.hpp"
#include "client/run/files/descriptor.hpp"
#include "core/wire/message.hpp"

namespace cgpu::client {

/// A library of the driver, open for reading.
struct DriverFile {
    wire::Library library = wire::Library::cuda;
    Descriptor file;
    std::string path;  ///< where it lies; on the host too, where it is the host's
};

/// Gives the driver's libraries to cgpud, which gives them to the processes of the instance whose link folder
/// this is (a path on the host). Only the instance's own process and what descends from it may do that, once.
/// In the order of wire::Library. Errors (failed): cgpud doesn't answer, or says why it doesn't take them.
[[nodiscard]] Result<void> hand_over(const std::string& link_folder, const std::vector<DriverFile>& files);

}  // namespace cgpu::client
