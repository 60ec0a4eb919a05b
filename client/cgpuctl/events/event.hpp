#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cgpu::cgpuctl {

/// An entry of the journal that tells of an event of cgpud; cgpud(8) has the types and fields.
struct Event {
    std::uint64_t time_us = 0;  ///< since 1970
    std::string type{};
    std::string message{};
    /// The fields of CGPU_…, without that prefix, in small letters and with `-` for `_`: `caller-uid`.
    std::map<std::string, std::string> fields{};

    /// Empty: it has none.
    [[nodiscard]] std::string_view field(std::string_view name) const;
};

/// Which events are wanted; what is empty doesn't matter.
struct EventFilter {
    /// What may mean it: its name, without regard to case, its id or the beginning of that. Instances that
    /// are gone can't be told from others that it may mean, so the events of all of them are wanted.
    std::string instance{};
    std::string gpu{};  ///< index or UUID
    std::string type{};
    std::uint64_t since_us = 0;  ///< since 1970
};

[[nodiscard]] bool matches(const EventFilter& filter, const Event& event);

/// The name of the journal's field `CGPU_CALLER_UID`, as Event::fields has it: `caller-uid`. Empty: it is no
/// field of cgpud's.
[[nodiscard]] std::string field_name(std::string_view journals);

/// The headings, and a line for an event, in columns of fixed widths: lines are printed when they come.
[[nodiscard]] std::string event_heading();
[[nodiscard]] std::string event_line(const Event& event);
/// One JSON object on one line.
[[nodiscard]] std::string event_json(const Event& event);

}  // namespace cgpu::cgpuctl
