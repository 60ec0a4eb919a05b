#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cgpu::client {

/// The paths of a library in the dynamic loader's cache (the content of /etc/ld.so.cache, as ldconfig of
/// glibc 2.2 and later writes it), in its order: the loader takes the first that fits the machine. Empty if
/// the text is not such a cache, or is truncated.
[[nodiscard]] std::vector<std::string> cached_paths(std::string_view cache, std::string_view name);

}  // namespace cgpu::client
