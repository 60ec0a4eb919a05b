#pragma once

#include <string>
#include <string_view>

namespace cgpu::cgpuctl::report {

/// Text of others as the content of an XML element or attribute: `&`, `<`, `>` and quotes are escaped, and
/// what isn't UTF-8 or no character of XML 1.0 becomes a question mark.
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace cgpu::cgpuctl::report
