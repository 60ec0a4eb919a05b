#include "client/cgpuctl/top/base/styled.hpp"

namespace cgpu::cgpuctl::top {

std::string text_of(const Line& line) {
    std::string text;
    for (const Span& span : line) text += span.text;
    return text;
}

}  // namespace cgpu::cgpuctl::top
