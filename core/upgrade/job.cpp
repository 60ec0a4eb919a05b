#include "core/upgrade/job.hpp"

namespace cgpu::upgrade {

std::string_view to_string(Kind kind) {
    switch (kind) {
        case Kind::hot:
            return "hot";
        case Kind::cold:
            return "cold";
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

std::optional<Kind> parse_kind(std::string_view text) {
    for (const auto kind : {Kind::hot, Kind::cold})
        if (to_string(kind) == text) return kind;
    return std::nullopt;
}

std::optional<Result> parse_result(std::string_view text) {
    for (const auto result : {Result::done, Result::failed, Result::cancelled})
        if (to_string(result) == text) return result;
    return std::nullopt;
}

}  // namespace cgpu::upgrade
