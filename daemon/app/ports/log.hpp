#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#if __has_include(<fmt/base.h>)
#include <fmt/base.h>  // fmt 11 and later; its core.h brings in all of format.h
#else
#include <fmt/core.h>
#endif

/// The lines of the daemon's log. They go to spdlog's default logger (daemon/system sets it up), but only
/// log.cpp includes spdlog: its header adds several seconds of compile time to each file that includes it.
/// Formats are checked when they are compiled. A line about an instance or a GPU names it first, for people
/// ("instance 3f2a…: …", "GPU 0 (GPU-…): …"), and gets it as a value, too, for the journal's fields.
namespace cgpu::model {
struct Gpu;
struct Instance;
}  // namespace cgpu::model

namespace cgpu::log {

/// What a line is about.
struct Subject {
    std::string instance{};  ///< its id in full; empty: none
    std::string name{};      ///< of the instance, as others chose it
    std::optional<std::uint32_t> gpu_index = {};
    std::string gpu{};         ///< its UUID; empty: none
    std::int32_t process = 0;  ///< of the instance: its host pid; 0: none
};
[[nodiscard]] Subject about(const model::Instance& instance, std::int32_t process = 0);
[[nodiscard]] Subject about(const model::Gpu& gpu);

enum class Level { debug, info, warn, error, critical };

/// Whether lines of this level are written: for those that cost something to make.
[[nodiscard]] bool is_written(Level level);

/// Formats and writes one line, if lines of this level are written at all.
void write(Level level, const Subject& about, fmt::string_view format, fmt::format_args values);

template <class... Values>
void debug(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::debug, {}, format, fmt::make_format_args(values...));
}

template <class... Values>
void info(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::info, {}, format, fmt::make_format_args(values...));
}
template <class... Values>
void info(const Subject& about, fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::info, about, format, fmt::make_format_args(values...));
}

template <class... Values>
void warn(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::warn, {}, format, fmt::make_format_args(values...));
}
template <class... Values>
void warn(const Subject& about, fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::warn, about, format, fmt::make_format_args(values...));
}

template <class... Values>
void error(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::error, {}, format, fmt::make_format_args(values...));
}
template <class... Values>
void error(const Subject& about, fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::error, about, format, fmt::make_format_args(values...));
}

template <class... Values>
void critical(fmt::format_string<const Values&...> format, const Values&... values) {
    write(Level::critical, {}, format, fmt::make_format_args(values...));
}

/// The lines contain names and texts of other users. These must not be able to begin a line of their own, or
/// to send control characters to the reader's terminal: they are written as \x1b.
[[nodiscard]] std::string without_controls(fmt::string_view text);

/// A finished line, as it is.
void line(Level level, fmt::string_view text, const Subject& about = {});

/// Where lines go instead of spdlog's default logger, which doesn't know what they are about. From all
/// threads, and never throws. Null: to that logger.
using Outlet = void (*)(Level level, std::string_view line, const Subject& about);
void set_outlet(Outlet outlet);

}  // namespace cgpu::log
