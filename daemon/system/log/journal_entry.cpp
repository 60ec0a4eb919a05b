#include "daemon/system/log/journal_entry.hpp"

// The source location of a line is of no use to an administrator.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <sys/uio.h>
#include <systemd/sd-journal.h>

namespace cgpu::system {

JournalEntry::JournalEntry(std::string_view message, int priority) {
    add("MESSAGE", message);
    add("PRIORITY", std::to_string(priority));
    add("SYSLOG_IDENTIFIER", "cgpud");
}

void JournalEntry::add(std::string_view field, std::string_view value) {
    std::string text(field);
    text += '=';
    text += value;
    fields_.push_back(std::move(text));
}

void JournalEntry::send() {
    std::vector<iovec> parts;
    parts.reserve(fields_.size());
    for (auto& field : fields_) parts.push_back({field.data(), field.size()});
    static_cast<void>(sd_journal_sendv(parts.data(), static_cast<int>(parts.size())));
}

}  // namespace cgpu::system
