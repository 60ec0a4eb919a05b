#include "daemon/app/ports/log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "core/model/gpu.hpp"
#include "core/model/instance.hpp"
#include "core/model/utf8.hpp"

namespace cgpu::log {
namespace {

spdlog::level::level_enum spdlogs(Level level) {
    switch (level) {
        case Level::debug:
            return spdlog::level::debug;
        case Level::info:
            return spdlog::level::info;
        case Level::warn:
            return spdlog::level::warn;
        case Level::error:
            return spdlog::level::err;
        case Level::critical:
            return spdlog::level::critical;
    }
    return spdlog::level::critical;
}

std::atomic<Outlet> the_outlet{nullptr};

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

Subject about(const model::Instance& instance, std::int32_t process) {
    return {.instance = instance.id.str(), .name = instance.name, .process = process};
}

Subject about(const model::Gpu& gpu) { return {.gpu_index = gpu.index, .gpu = gpu.uuid.to_string()}; }

void set_outlet(Outlet outlet) { the_outlet.store(outlet); }

bool is_written(Level level) { return spdlog::should_log(spdlogs(level)); }

void write(Level level, const Subject& about, fmt::string_view format, fmt::format_args values) {
    if (!is_written(level)) return;
    try {
        line(level, fmt::vformat(format, values), about);
    } catch (const std::exception&) {
        line(level, format);  // no memory for the values; whoever logs has no use for an exception
    }
}

std::string without_controls(fmt::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (is_control(c))
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

void line(Level level, fmt::string_view text, const Subject& about) {
    if (!is_written(level)) return;
    // A format without values is used when there is no memory: it needs none.
    std::string plain = std::any_of(text.begin(), text.end(), is_control) ? without_controls(text) : "";
    if (!plain.empty()) text = plain;
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (!std::all_of(text.begin(), text.end(), is_ascii)) {
        // A file's name may have any bytes.
        plain = model::valid_utf8({text.data(), text.size()});
        text = plain;
    }
    if (const Outlet outlet = the_outlet.load()) return outlet(level, {text.data(), text.size()}, about);
    spdlog::default_logger_raw()->log(spdlogs(level), spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace cgpu::log
