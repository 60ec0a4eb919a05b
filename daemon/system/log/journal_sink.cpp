#include "daemon/system/log/journal_sink.hpp"

#include <syslog.h>

#include <string_view>

#include "daemon/system/log/journal_entry.hpp"
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
    JournalEntry entry(line, priority_of(message.level));
    if (!subject.instance.empty()) {
        const auto known = names_ ? names_->find(subject.instance) : InstanceNames::Name{};
        entry.add("CGPU_INSTANCE", known.id.empty() ? subject.instance : known.id);
        if (!known.name.empty()) entry.add("CGPU_NAME", known.name);
    }
    if (!subject.gpu.empty()) entry.add("CGPU_GPU", subject.gpu);
    if (!subject.gpu_uuid.empty()) entry.add("CGPU_GPU_UUID", subject.gpu_uuid);
    if (!subject.process.empty()) entry.add("CGPU_PID", subject.process);
    entry.send();
}

}  // namespace cgpu::system
