#include "client/cgpuctl/doctor/base/finding.hpp"

#include <utility>

namespace cgpu::cgpuctl::doctor {
namespace {

constexpr std::string_view kTry = ". Try: ";

std::string without_full_stop(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    return std::string(text);
}

}  // namespace

std::string_view to_string(Level level) {
    switch (level) {
        case Level::ok:
            return "ok";
        case Level::unchecked:
            return "not_checked";
        case Level::warning:
            return "warning";
        case Level::problem:
            return "problem";
    }
    return "unknown";
}

Finding ok(std::string check, std::string what) {
    return {Level::ok, std::move(check), std::move(what), {}, {}};
}

Finding unchecked(std::string check, std::string what, std::string why) {
    return {Level::unchecked, std::move(check), std::move(what), std::move(why), {}};
}

Finding for_root(std::string check, std::string what) {
    return {Level::unchecked, std::move(check), std::move(what), "only root may read this",
            "run cgpuctl doctor as root (sudo)"};
}

Finding from_message(Level level, std::string check, std::string_view message) {
    const auto mark = message.find(kTry);
    const auto said = message.substr(0, mark);
    const auto colon = said.find(": ");
    Finding finding{level, std::move(check), without_full_stop(said.substr(0, colon)), {}, {}};
    if (colon != std::string_view::npos) finding.why = without_full_stop(said.substr(colon + 2));
    if (mark != std::string_view::npos) finding.fix = without_full_stop(message.substr(mark + kTry.size()));
    return finding;
}

}  // namespace cgpu::cgpuctl::doctor
