#include "daemon/system/log/event_log.hpp"

#include <syslog.h>

#include <algorithm>
#include <exception>
#include <string>
#include <variant>

#include "daemon/system/log/log.hpp"

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
    JournalEntry entry(log::without_controls(event.message), priority_of(event.level));
    entry.add("MESSAGE_ID", kind.message_id);
    entry.add("CGPU_EVENT", kind.name);
    entry.add("CGPU_EVENT_NUMBER", std::to_string(stamp.number));
    if (event.instance) entry.add("CGPU_INSTANCE", event.instance->str());
    if (!event.name.empty()) entry.add("CGPU_NAME", event.name);
    if (event.gpu_index) entry.add("CGPU_GPU", std::to_string(*event.gpu_index));
    if (event.gpu) entry.add("CGPU_GPU_UUID", event.gpu->to_string());
    if (event.process > 0) entry.add("CGPU_PID", std::to_string(event.process));
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
            log::line(event.level, event.message);
    } catch (const std::exception&) {
        log::line(event.level, "an event is left out: there is no memory for it");
    }
}

void EventLog::instance_known(const model::Instance& instance) {
    names_->set(instance.id.short_id(), {instance.id.str(), instance.name});
}

void EventLog::instance_forgotten(const model::InstanceId& id) { names_->forget(id.short_id()); }

}  // namespace cgpu::system
