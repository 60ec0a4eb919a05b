#include "daemon/config/gpu_name.hpp"

#include <charconv>

#include "core/model/quote.hpp"

namespace cgpu::config {

tl::expected<GpuName, std::string> parse_gpu_name(std::string_view text) {
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error == std::errc{} && end == text.data() + text.size()) {
        if (text == std::to_string(index)) return index;
        return tl::unexpected(model::quote(text) + " is an index with a zero before it");
    }
    if (const auto uuid = model::Uuid::parse(text)) return *uuid;
    return tl::unexpected(model::quote(text) + " is neither an index nor a UUID of a GPU");
}

}  // namespace cgpu::config
