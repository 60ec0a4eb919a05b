#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cgpu::client {

/// Where the dynamic loader's cache (the content of /etc/ld.so.cache, as ldconfig of glibc 2.2 and later
/// writes it) says that a library of this name lies, in its order: the loader takes the first that fits the
/// machine. None where the text is no such cache, or is cut off.
[[nodiscard]] std::vector<std::string> cached_paths(std::string_view cache, std::string_view name);

}  // namespace cgpu::client
