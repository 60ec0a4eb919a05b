#pragma once

#include <string>
#include <vector>

#include "client/node/values/client_error.hpp"
#include "core/wire/message.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {

/// A library of the driver, open for reading.
struct DriverFile {
    wire::Library library = wire::Library::cuda;
    Descriptor file;
    std::string path;  ///< on the host; for a file that is not known to be the host's, a text without a slash
                       ///< in front, so that nobody opens it there
};

/// Hands the driver's libraries to cgpud, which passes them to the processes of the instance whose link
/// folder this is (a path on the host). Only the instance's own process and its descendants may do that,
/// once. In the order of wire::Library. Errors (failed): cgpud doesn't answer, or gives a reason why it
/// doesn't take them.
[[nodiscard]] Result<void> hand_over(const std::string& link_folder, const std::vector<DriverFile>& files);

}  // namespace cgpu::client
