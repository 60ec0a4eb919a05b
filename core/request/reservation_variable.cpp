#include "core/request/reservation_variable.hpp"

#include <algorithm>
#include <array>

#include "core/request/variables.hpp"

namespace cgpu::request {
namespace {

using Reason = model::Refusal::Reason;

/// What says which part it is to be.
constexpr std::array kParts = {
    names::kMem,        names::kCompute,     names::kWeight,         names::kGpus,       names::kPrio,
    names::kMode,       names::kProfile,     names::kMemContainer,   names::kSchdWeight, names::kHighPrio,
    names::kVolcanoMem, names::kVolcanoCore, names::kVisibleDevices, names::kAliyunMem,  names::kAliyunCount};

}  // namespace

tl::unexpected<model::Refusal> refuse_part(std::string_view name) {
    return model::refuse(Reason::invalid, std::string(name) + " with " + std::string(names::kReservation),
                         "the reservation says already which part it gets",
                         "leave out " + std::string(name) + ", or say it to cgpuctl reserve");
}

bool is_token(std::string_view text) {
    return text.size() == kTokenLength &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

tl::expected<std::optional<std::string>, model::Refusal> read_reservation(const Variables& variables) {
    const auto token = find_value(variables, names::kReservation);
    if (!token) return std::nullopt;
    if (!is_token(*token))
        return model::refuse(
            Reason::invalid, std::string(names::kReservation),
            "it is no token of a reservation (" + std::to_string(kTokenLength) + " hexadecimal digits)",
            "use what cgpuctl reserve has printed");
    for (const std::string_view name : kParts)
        if (find_value(variables, name)) return refuse_part(name);
    return std::string(*token);
}

}  // namespace cgpu::request
