#pragma once

#include <string>

#if __has_include(<fmt/base.h>)
#include <fmt/base.h>  // fmt 11 and later; its core.h brings in all of format.h
#else
#include <fmt/core.h>
#endif

/// The lines of the daemon's log. They go to spdlog's default logger (daemon/system sets it up), but only
/// log.cpp includes spdlog: its header adds several seconds of compile time to each file that includes it.
/// Formats are checked when they are compiled. A line begins with its subject, as `system::subject_of` reads
/// it: "instance 3f2a…: …", "GPU 0 (GPU-…): …".
namespace cgpu::log {

enum class Level { debug, info, warn, error, critical };

/// Formats and writes one line, if lines of this level are written at all.
void write(Level level, fmt::string_view format, fmt::format_args values);

template <class... Values>
void debug(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::debug, format, fmt::make_format_args(values...));
}

template <class... Values>
void info(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::info, format, fmt::make_format_args(values...));
}

template <class... Values>
void warn(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::warn, format, fmt::make_format_args(values...));
}

template <class... Values>
void error(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::error, format, fmt::make_format_args(values...));
}

template <class... Values>
void critical(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::critical, format, fmt::make_format_args(values...));
}

/// The lines contain names and texts of other users. These must not be able to begin a line of their own, or
/// to send control characters to the reader's terminal: they are written as \x1b.
[[nodiscard]] std::string without_controls(fmt::string_view text);

/// A finished line, as it is.
void line(Level level, fmt::string_view text);

}  // namespace cgpu::log
