#include "daemon/system/log/journal_entry.hpp"

// The source location of a line is of no use to an administrator.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <sys/uio.h>
#include <syslog.h>
#include <systemd/sd-journal.h>

namespace cgpu::system {
namespace {

int priority_of(log::Level level) {
    switch (level) {
        case log::Level::debug:
            return LOG_DEBUG;
        case log::Level::info:
            return LOG_INFO;
        case log::Level::warn:
            return LOG_WARNING;
        case log::Level::error:
            return LOG_ERR;
        case log::Level::critical:
            return LOG_CRIT;
    }
    return LOG_CRIT;
}

}  // namespace

JournalEntry::JournalEntry(std::string_view message, log::Level level) {
    add("MESSAGE", message);
    add("PRIORITY", std::to_string(priority_of(level)));
    add("SYSLOG_IDENTIFIER", "cgpud");
}

void JournalEntry::add(std::string_view field, std::string_view value) {
    std::string text(field);
    text += '=';
    text += value;
    fields_.push_back(std::move(text));
}

void JournalEntry::add(const log::Subject& about) {
    if (!about.instance.empty()) add("CGPU_INSTANCE", about.instance);
    if (!about.name.empty()) add("CGPU_NAME", about.name);
    if (about.gpu_index) add("CGPU_GPU", std::to_string(*about.gpu_index));
    if (!about.gpu.empty()) add("CGPU_GPU_UUID", about.gpu);
    if (about.process > 0) add("CGPU_PID", std::to_string(about.process));
}

void JournalEntry::send() {
    std::vector<iovec> parts;
    parts.reserve(fields_.size());
    for (auto& field : fields_) parts.push_back({field.data(), field.size()});
    static_cast<void>(sd_journal_sendv(parts.data(), static_cast<int>(parts.size())));
}

}  // namespace cgpu::system
