#include "core/admission/defaults.hpp"

namespace cgpu::admission {

std::string_view to_string(Placement placement) {
    switch (placement) {
        case Placement::binpack:
            return "binpack";
        case Placement::spread:
            return "spread";
    }
    return "unknown";
}

std::string_view to_string(NoWeight no_weight) {
    switch (no_weight) {
        case NoWeight::warn:
            return "warn";
        case NoWeight::refuse:
            return "refuse";
    }
    return "unknown";
}

tl::expected<Placement, std::string> parse_placement(std::string_view text) {
    for (const Placement placement : {Placement::binpack, Placement::spread})
        if (text == to_string(placement)) return placement;
    return tl::unexpected(std::string("it is neither binpack nor spread"));
}

tl::expected<NoWeight, std::string> parse_no_weight(std::string_view text) {
    for (const NoWeight no_weight : {NoWeight::warn, NoWeight::refuse})
        if (text == to_string(no_weight)) return no_weight;
    return tl::unexpected(std::string("it is neither warn nor refuse"));
}

}  // namespace cgpu::admission
