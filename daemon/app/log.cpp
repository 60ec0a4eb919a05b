#include "daemon/app/log.hpp"

#include <spdlog/spdlog.h>

#include <exception>

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

}  // namespace

void write(Level level, fmt::string_view format, fmt::format_args values) {
    if (!spdlog::should_log(spdlogs(level))) return;
    try {
        line(level, fmt::vformat(format, values));
    } catch (const std::exception&) {
        line(level, format);  // no memory for the values; whoever logs has no use for an exception
    }
}

void line(Level level, fmt::string_view text) {
    spdlog::default_logger_raw()->log(spdlogs(level), spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace cgpu::log
