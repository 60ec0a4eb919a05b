#include "core/model/mode.hpp"

namespace cgpu::model {

std::string_view to_string(Mode mode) {
    switch (mode) {
        case Mode::none:
            return "none";
        case Mode::memory:
            return "memory";
        case Mode::memory_compute:
            return "memory+compute";
    }
    return "unknown";
}

tl::expected<Mode, std::string> parse_mode(std::string_view text) {
    for (const Mode mode : {Mode::none, Mode::memory, Mode::memory_compute})
        if (text == to_string(mode)) return mode;
    if (text == "compute") return tl::unexpected(std::string("compute is not isolated without memory"));
    return tl::unexpected(std::string("it is not one of none, memory, memory+compute"));
}

}  // namespace cgpu::model
