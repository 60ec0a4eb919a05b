#include "client/runtime/nvidia/nvidia_settings.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include "client/runtime/oci/json_file.hpp"
#include "core/model/trimmed.hpp"
#include "files/read.hpp"

namespace cgpu::runtime {
namespace {

std::optional<bool> truth_in(std::string_view value) {
    value = model::trimmed(value.substr(0, std::min(value.find('#'), value.size())));
    if (value == "true") return true;
    if (value == "false") return false;
    return std::nullopt;
}

}  // namespace

NvidiaSettings read_nvidia_settings(std::string_view text) {
    NvidiaSettings settings;
    std::istringstream lines{std::string(text)};
    for (std::string raw; std::getline(lines, raw);) {
        const std::string_view line = model::trimmed(raw);
        if (line.starts_with('[')) break;
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view key = model::trimmed(line.substr(0, equals));
        const auto truth = truth_in(line.substr(equals + 1));
        if (!truth) continue;
        if (key == "accept-nvidia-visible-devices-envvar-when-unprivileged") settings.by_variable = *truth;
        if (key == "accept-nvidia-visible-devices-as-volume-mounts") settings.by_volumes = *truth;
    }
    return settings;
}

NvidiaSettings nvidia_settings(const std::string& file) {
    constexpr std::size_t kMost = std::size_t{1} << 20;
    return read_nvidia_settings(files::read_text(file, kMost).value_or(""));
}

bool must_use_volumes(const NvidiaSettings& settings, const OciBundle& bundle) {
    if (settings.by_variable || !settings.by_volumes) return false;
    const Json all = list_at(bundle.config(), Json::json_pointer("/process/capabilities/bounding"));
    return std::ranges::none_of(all, [](const Json& each) { return each == "CAP_SYS_ADMIN"; });
}

}  // namespace cgpu::runtime
