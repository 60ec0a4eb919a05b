#include "daemon/system/log/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "daemon/app/ports/log.hpp"
#include "daemon/system/log/journal_entry.hpp"

namespace cgpu::system {

namespace {

void write_to_journal(log::Level level, std::string_view line, const log::Subject& about) {
    try {
        JournalEntry entry(line, level);
        entry.add(about);
        entry.send();
    } catch (const std::exception&) {
        // No memory for a line of the log: whoever logs has no use for an exception.
    }
}

}  // namespace

bool logs_to_journal() { return getenv("JOURNAL_STREAM") != nullptr; }

void set_up_log(const std::string& level) {
    if (logs_to_journal()) {
        log::set_outlet(write_to_journal);
    } else {
        auto logger =
            std::make_shared<spdlog::logger>("cgpud", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        logger->set_pattern("%H:%M:%S.%e %l: %v");
        spdlog::set_default_logger(std::move(logger));
    }
    const auto parsed = spdlog::level::from_str(level);
    spdlog::set_level(parsed == spdlog::level::off && level != "off" ? spdlog::level::info : parsed);
    spdlog::flush_on(spdlog::level::info);
}

}  // namespace cgpu::system
