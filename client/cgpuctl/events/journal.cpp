#include "client/cgpuctl/events/journal.hpp"

#include <systemd/sd-journal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace cgpu::cgpuctl {
namespace {

using Kind = client::ClientError::Kind;

/// Set by journald from the sender's cgroup, so no other program can write entries that look like cgpud's.
constexpr const char* kUnit = "_SYSTEMD_UNIT=cgpud.service";

tl::unexpected<client::ClientError> unreadable(int error) {
    return client::fail(Kind::failed, std::string("the journal: it can't be read: ") + std::strerror(-error) +
                                          ". Try: journalctl --verify.");
}

/// Why no file of the journal is open.
tl::unexpected<client::ClientError> no_files() {
    std::error_code ignored;
    const bool exists = std::filesystem::exists("/var/log/journal", ignored) ||
                        std::filesystem::exists("/run/log/journal", ignored);
    if (exists && geteuid() != 0)
        return client::fail(Kind::not_authorized,
                            "the journal: you may not read it, or it is empty. Try: sudo cgpuctl events, or "
                            "join the group systemd-journal.");
    return client::fail(Kind::failed,
                        "the journal: this machine has none, because systemd-journald doesn't run. Try: read "
                        "the output of cgpud, or follow the signals (busctl monitor org.cgpu1).");
}

}  // namespace

void Journal::Close::operator()(sd_journal* journal) const { sd_journal_close(journal); }

client::Result<Journal> Journal::open(const std::string& type) {
    sd_journal* opened = nullptr;
    if (const int result = sd_journal_open(&opened, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM); result < 0)
        return unreadable(result);
    Journal journal(opened);
    if (sd_journal_has_runtime_files(opened) <= 0 && sd_journal_has_persistent_files(opened) <= 0)
        return no_files();
    int result = sd_journal_add_match(opened, kUnit, 0);
    if (result >= 0 && !type.empty())
        result = sd_journal_add_match(opened, ("CGPU_EVENT=" + type).c_str(), 0);
    // The first call only begins to watch the files: what is written from now on isn't missed.
    if (result >= 0) result = sd_journal_get_fd(opened);
    if (result < 0) return unreadable(result);
    return journal;
}

client::Result<void> Journal::begin_at(std::uint64_t time_us) {
    if (const int result = sd_journal_seek_realtime_usec(journal_.get(), time_us); result < 0)
        return unreadable(result);
    return {};
}

client::Result<void> Journal::begin_with_last(std::size_t count, const EventFilter& filter) {
    if (const int result = sd_journal_seek_tail(journal_.get()); result < 0) return unreadable(result);
    for (std::size_t found = 0; found < count;) {
        const int result = sd_journal_previous(journal_.get());
        if (result < 0) return unreadable(result);
        if (result == 0) {
            if (const int at = sd_journal_seek_head(journal_.get()); at < 0) return unreadable(at);
            return {};
        }
        const auto event = event_here();
        if (event && matches(filter, *event)) ++found;
    }
    // next() goes on from the entry before.
    int result = sd_journal_previous(journal_.get());
    if (result == 0) result = sd_journal_seek_head(journal_.get());
    if (result < 0) return unreadable(result);
    return {};
}

client::Result<std::optional<Event>> Journal::next() {
    for (;;) {
        const int result = sd_journal_next(journal_.get());
        if (result < 0) return unreadable(result);
        if (result == 0) return std::nullopt;
        if (auto event = event_here()) return event;
    }
}

client::Result<void> Journal::wait() {
    constexpr std::uint64_t kForever = static_cast<std::uint64_t>(-1);
    if (const int result = sd_journal_wait(journal_.get(), kForever); result < 0) return unreadable(result);
    return {};
}

std::optional<Event> Journal::event_here() const {
    Event event;
    const void* data = nullptr;
    std::size_t length = 0;
    if (sd_journal_get_data(journal_.get(), "CGPU_EVENT", &data, &length) < 0) return std::nullopt;
    sd_journal_get_realtime_usec(journal_.get(), &event.time_us);
    sd_journal_restart_data(journal_.get());
    while (sd_journal_enumerate_data(journal_.get(), &data, &length) > 0) {
        const std::string_view field(static_cast<const char*>(data), length);
        const auto name = field.substr(0, field.find('='));
        const std::string value(field.substr(std::min(name.size() + 1, field.size())));
        if (name == "MESSAGE") event.message = value;
        if (name == "CGPU_EVENT") event.type = value;
        if (auto own = field_name(name); !own.empty()) event.fields.emplace(std::move(own), value);
    }
    return event;
}

}  // namespace cgpu::cgpuctl
