#include "daemon/system/log/event_log.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <variant>

#include "daemon/system/log/log.hpp"

namespace cgpu::system {
namespace {

/// `memory-limit` as CGPU_MEMORY_LIMIT.
std::string field_of(std::string_view detail) {
    std::string field = "CGPU_";
    for (const char c : detail)
        field += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return field;
}

std::string text_of(const std::variant<std::string, std::uint64_t>& value) {
    if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
    return std::get<std::string>(value);
}

}  // namespace

JournalEntry entry_of(const app::Event& event, const app::Stamp& stamp) {
    const auto& kind = app::kind_of(event.type);
    JournalEntry entry(log::without_controls(event.message), event.level);
    entry.add("MESSAGE_ID", kind.message_id);
    entry.add("CGPU_EVENT", kind.name);
    entry.add("CGPU_EVENT_NUMBER", std::to_string(stamp.number));
    entry.add(app::subject_of(event));
    if (event.by) entry.add("CGPU_CALLER_UID", std::to_string(event.by->user));
    if (event.by && event.by->pid > 0) entry.add("CGPU_CALLER_PID", std::to_string(event.by->pid));
    for (const auto& [detail, value] : event.details) entry.add(field_of(detail), text_of(value));
    return entry;
}

void EventLog::happened(const app::Event& event, const app::Stamp& stamp) {
    try {
        if (logs_to_journal())
            entry_of(event, stamp).send();
        else
            log::line(event.level, event.message, app::subject_of(event));
    } catch (const std::exception&) {
        log::line(event.level, "an event is left out: there is no memory for it");
    }
}

}  // namespace cgpu::system
