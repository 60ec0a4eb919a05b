#include "core/request/percent.hpp"

#include "core/model/percent.hpp"

namespace cgpu::request {
namespace {

/// `3 slices (14.28%)`; the percentage is truncated to two digits, and has none if it is whole.
std::string slices_text(std::uint32_t slices, std::uint32_t max_inst) {
    const std::uint32_t hundredths = slices * 10000 / max_inst;
    std::string per_cent = std::to_string(hundredths / 100);
    if (hundredths % 100 != 0) {
        const std::string digits = std::to_string(hundredths % 100);
        per_cent += (digits.size() == 1 ? ".0" : ".") + digits;
    }
    return std::to_string(slices) + (slices == 1 ? " slice (" : " slices (") + per_cent + "%)";
}

}  // namespace

tl::expected<std::uint32_t, std::string> percent_to_slices(std::uint32_t percent, std::uint32_t max_inst) {
    if (const auto slices = model::slices_of(percent, max_inst)) return *slices;
    const std::uint32_t below = percent * max_inst / 100;
    return tl::unexpected(std::to_string(percent) + "% of " + std::to_string(max_inst) +
                          " slices is not a whole number of slices: it lies between " +
                          slices_text(below, max_inst) + " and " + slices_text(below + 1, max_inst));
}

}  // namespace cgpu::request
