#include "daemon/system/log/journal_sink.hpp"

// The source location of a line is of no use to an administrator.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

#include <string>
#include <string_view>
#include <vector>

#include "daemon/system/log/log_subject.hpp"

namespace cgpu::system {
namespace {

int priority_of(spdlog::level::level_enum level) {
    switch (level) {
        case spdlog::level::critical:
            return LOG_CRIT;
        case spdlog::level::err:
            return LOG_ERR;
        case spdlog::level::warn:
            return LOG_WARNING;
        case spdlog::level::info:
            return LOG_INFO;
        default:
            return LOG_DEBUG;  // spdlog's enum, not ours: debug, trace, and what may come
    }
}

}  // namespace

void JournalSink::sink_it_(const spdlog::details::log_msg& message) {
    const std::string_view line(message.payload.data(), message.payload.size());
    const auto subject = subject_of(line);
    std::vector<std::string> fields{"MESSAGE=" + std::string(line),
                                    "PRIORITY=" + std::to_string(priority_of(message.level)),
                                    "SYSLOG_IDENTIFIER=cgpud"};
    if (!subject.instance.empty()) fields.push_back("CGPU_INSTANCE=" + std::string(subject.instance));
    if (!subject.gpu.empty()) fields.push_back("CGPU_GPU=" + std::string(subject.gpu));
    if (!subject.process.empty()) fields.push_back("CGPU_PID=" + std::string(subject.process));
    std::vector<iovec> parts;
    parts.reserve(fields.size());
    for (auto& field : fields) parts.push_back({field.data(), field.size()});
    // A journal that accepts nothing is no reason to stop dividing GPUs.
    static_cast<void>(sd_journal_sendv(parts.data(), static_cast<int>(parts.size())));
}

}  // namespace cgpu::system
