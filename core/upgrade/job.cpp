#include "core/upgrade/job.hpp"

namespace cgpu::upgrade {

std::string_view to_string(Kind kind) {
    switch (kind) {
        case Kind::hot:
            return "hot";
        case Kind::cold:
            return "cold";
        case Kind::mode:
            return "mode";
    }
    return {};
}

std::string_view to_string(Result result) {
    switch (result) {
        case Result::done:
            return "done";
        case Result::failed:
            return "failed";
        case Result::cancelled:
            return "cancelled";
    }
    return {};
}

std::string_view to_string(Step step) {
    switch (step) {
        case Step::stage:
            return "stage";
        case Step::canary:
            return "canary";
        case Step::all:
            return "all";
        case Step::commit:
            return "commit";
        case Step::back:
            return "back";
        case Step::drain:
            return "drain";
        case Step::ended:
            return "ended";
    }
    return {};
}

std::string to_string(const Setting& setting) {
    if (const auto* version = std::get_if<Version>(&setting)) return version->str();
    return std::string(model::to_string(std::get<model::Mode>(setting)));
}

std::string title_of(std::uint64_t id, Kind kind, const Setting& from, const Setting& to) {
    return (kind == Kind::mode ? "switch " : "upgrade ") + std::to_string(id) + " (" +
           std::string(to_string(kind)) + ", " + to_string(from) + " to " + to_string(to) + ")";
}

std::optional<Kind> parse_kind(std::string_view text) {
    for (const auto kind : {Kind::hot, Kind::cold, Kind::mode})
        if (to_string(kind) == text) return kind;
    return std::nullopt;
}

std::optional<Result> parse_result(std::string_view text) {
    for (const auto result : {Result::done, Result::failed, Result::cancelled})
        if (to_string(result) == text) return result;
    return std::nullopt;
}

}  // namespace cgpu::upgrade
