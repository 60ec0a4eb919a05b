#include "client/cgpuctl/top/layout.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/top/base/figures.hpp"
#include "client/cgpuctl/top/tables.hpp"

namespace cgpu::cgpuctl::top {
namespace {

constexpr std::size_t kMostMessageLines = 4;

constexpr std::array<std::string_view, 10> kHelp = {
    "up down page home end, j k   select an instance",
    "s >  <                       sort by the next column, the one before",
    "/                            show some by name or id; Esc shows all",
    "w                            set the weight of the selected instance",
    "p                            set its priority",
    "P                            set the policy of its GPU",
    "space                        pause, and continue",
    "+  -                         read less often, more often",
    "q                            end",
    "",
};

constexpr std::string_view kColumnsHelp =
    "DUE is the share of the GPU that the policy gives an instance now. GOT is the share of the GPU's time "
    "that "
    "it has used since the reading before. WAIT is how long its launches waited for their turn, as a part of "
    "that time. The stroke in the bar of an instance is DUE; in that of a GPU's memory it is the sum of the "
    "limits. A dash stands for what isn't measured, because the driver divides the compute. Any key goes "
    "back.";

/// The first that fit are shown.
constexpr std::array<std::string_view, 9> kKeys = {"q end",    "? help",      "s sort",
                                                   "/ filter", "w weight",    "p priority",
                                                   "P policy", "space pause", "+ - delay"};

std::string delay_text(std::chrono::milliseconds delay) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g s", static_cast<double>(delay.count()) / 1000);
    return text.data();
}

Line title(const Session& session, std::size_t width, bool with_date, bool utf8) {
    constexpr std::size_t kDate = sizeof "2025-01-31";  // with the blank behind it
    const Rows& rows = session.model().rows();
    std::string text = "cgpu " + session.model().version() + "  " +
                       time_text(session.model().taken()).substr(with_date ? 0 : kDate);
    text += session.paused() ? "  paused" : "  every " + delay_text(session.delay());
    text += "  " + counted(rows.gpus.size(), "GPU") + ", " + counted(rows.instances.size(), "instance");
    if (rows.waiting > 0) text += ", " + std::to_string(rows.waiting) + " waiting";
    if (!session.filter().empty()) text += "  only " + narrow(session.filter(), utf8);
    return {{left(text, width), Style::title}};
}

std::string keys_in(std::size_t width) {
    std::string text;
    for (const std::string_view each : kKeys) {
        const std::size_t more = each.size() + (text.empty() ? 0 : 2);
        if (text.size() + more > width) break;
        text += (text.empty() ? "" : "  ") + std::string(each);
    }
    return text;
}

/// The part of `all` things of which `room` fit that has the one at `at` in it: its first.
std::size_t first_shown(std::size_t all, std::size_t room, std::size_t at) {
    if (all <= room || at < room / 2) return 0;
    return std::min(at - room / 2, all - room);
}

/// At most `room` lines, the selected instance's GPU among them; the last one says how many more there are.
void add_gpus(std::vector<Line>& lines, const Session& session, std::size_t room, std::size_t width,
              bool utf8) {
    const auto& gpus = session.model().rows().gpus;
    if (room == 0) return;
    const std::size_t shown = gpus.size() <= room ? gpus.size() : room - 1;
    std::size_t at = 0;
    if (session.selected())
        at = static_cast<std::size_t>(std::ranges::find(gpus, session.selected()->gpu, &GpuRow::uuid) -
                                      gpus.begin());
    const std::size_t first = first_shown(gpus.size(), shown, std::min(at, gpus.size()));
    for (std::size_t i = first; i < first + shown; ++i) lines.push_back(gpu_line(gpus[i], width, utf8));
    if (shown < gpus.size()) lines.push_back({{counted(gpus.size() - shown, "more GPU"), Style::faint}});
    if (gpus.empty()) lines.push_back({{"This node has no GPU.", Style::faint}});
}

void add_instances(std::vector<Line>& lines, const Session& session, std::size_t room, std::size_t width,
                   bool utf8, bool selection) {
    const auto rows = session.instances();
    if (rows.empty() && room > 0)
        lines.push_back({{session.filter().empty() ? "No instances." : "No instance has this name or id.",
                          Style::faint}});
    std::size_t at = 0;
    while (at < rows.size() && rows[at].place != session.selected()) ++at;
    const std::size_t first = first_shown(rows.size(), room, at == rows.size() ? 0 : at);
    for (std::size_t i = first; i < std::min(first + room, rows.size()); ++i)
        lines.push_back(instance_line(rows[i], selection && i == at, width, utf8));
}

/// Question, message, or the processes of the selected instance and the keys.
std::vector<Line> bottom(const Session& session, std::size_t width, bool utf8) {
    std::vector<Line> lines;
    const auto message = session.message();
    for (const std::string& part : wrapped(narrow(message.text, utf8), width))
        if (lines.size() < kMostMessageLines)
            lines.push_back({{part, message.bad ? Style::bad : Style::heading}});
    const std::string question = narrow(session.question(), utf8);
    if (!question.empty()) {
        // The cursor needs a column behind it, too.
        auto parts = wrapped(question, width > 2 ? width - 2 : 1);
        if (question.ends_with(' ') && !parts.back().ends_with(' ')) parts.back() += ' ';
        for (std::string& part : parts) lines.push_back({{std::move(part), Style::heading}});
    }
    if (!lines.empty()) return lines;
    for (const InstanceRow& row : session.instances())
        if (row.place == session.selected() && !row.who.empty())
            lines.push_back({{narrow(row.name + ": " + row.who, utf8), Style::plain}});
    lines.push_back({{keys_in(width), Style::faint}});
    return lines;
}

std::vector<Line> help(const Session& session, std::size_t width, bool utf8) {
    std::vector<Line> lines = {title(session, width, false, utf8)};
    for (const std::string_view each : kHelp) lines.push_back({{std::string(each)}});
    for (const std::string& part : wrapped(kColumnsHelp, width)) lines.push_back({{part}});
    return lines;
}

/// No longer than the width, whatever it has in it.
void shorten(Line& line, std::size_t width) {
    std::size_t used = 0;
    for (Span& span : line) {
        span.text = cut(span.text, width - used);
        used += text_width(span.text);
    }
}

}  // namespace

Picture draw(const Session& session, Size size, bool utf8) {
    Picture picture;
    if (session.shows_help()) {
        picture.lines = help(session, size.width, utf8);
    } else {
        auto last = bottom(session, size.width, utf8);
        if (last.size() > size.height)
            last.erase(last.begin(), last.end() - static_cast<std::ptrdiff_t>(size.height));
        const std::size_t room = size.height - last.size();
        if (room > 0) picture.lines.push_back(title(session, size.width, false, utf8));
        // Title and heading, and at least half of the rest for the instances.
        add_gpus(picture.lines, session, room > 2 ? (room - 1) / 2 : 0, size.width, utf8);
        if (picture.lines.size() < room)
            picture.lines.push_back(instance_heading(session.sorted_by(), size.width));
        add_instances(picture.lines, session, room - picture.lines.size(), size.width, utf8, true);
        picture.lines.resize(room);
        if (!session.question().empty())
            picture.cursor = std::min(text_width(text_of(last.back())), size.width - 1);
        for (Line& line : last) picture.lines.push_back(std::move(line));
    }
    picture.lines.resize(size.height);
    for (Line& line : picture.lines) shorten(line, size.width);
    return picture;
}

std::vector<Line> frame(const Session& session, std::size_t width, bool utf8) {
    const Rows& rows = session.model().rows();
    std::vector<Line> lines = {title(session, width, true, utf8)};
    add_gpus(lines, session, std::max<std::size_t>(rows.gpus.size(), 1), width, utf8);
    lines.push_back(instance_heading(session.sorted_by(), width));
    add_instances(lines, session, std::max<std::size_t>(rows.instances.size(), 1), width, utf8, false);
    for (Line& line : lines) shorten(line, width);
    return lines;
}

}  // namespace cgpu::cgpuctl::top
