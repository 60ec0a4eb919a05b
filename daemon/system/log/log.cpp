#include "daemon/system/log/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <utility>

#include "daemon/system/log/journal_sink.hpp"

namespace cgpu::system {

bool logs_to_journal() { return getenv("JOURNAL_STREAM") != nullptr; }

void set_up_log(const std::string& level, std::shared_ptr<const InstanceNames> names) {
    if (logs_to_journal()) {
        spdlog::set_default_logger(
            std::make_shared<spdlog::logger>("cgpud", std::make_shared<JournalSink>(std::move(names))));
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
