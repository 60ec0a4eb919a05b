#include "daemon/gpu/messages/question.hpp"

#include <array>
#include <utility>

#include "daemon/gpu/messages/line.hpp"

namespace cgpu::gpu {
namespace {

constexpr std::array<std::pair<Question::Ask, const char*>, 4> kAsks{
    {{Question::Ask::list, "list"},
     {Question::Ask::processes, "processes"},
     {Question::Ask::examine, "examine"},
     {Question::Ask::utilization, "utilization"}}};

Question::Ask ask_named(const std::string& name) {
    for (const auto& [ask, its_name] : kAsks)
        if (name == its_name) return ask;
    throw Malformed{"ask: it is none of list, processes, examine and utilization"};
}

}  // namespace

std::string encode(const Question& question) {
    Json message{{"id", question.id}};
    for (const auto& [ask, name] : kAsks)
        if (question.ask == ask) message["ask"] = name;
    if (question.gpu) message["gpu"] = question.gpu->to_string();
    if (question.ask == Question::Ask::utilization) message["after"] = question.after_us;
    return write_line(message);
}

tl::expected<Question, std::string> parse_question(std::string_view line) {
    try {
        const Json message = read_line(line);
        Question question{number(message, "id"), ask_named(text(message, "ask")), std::nullopt};
        const bool utilization = question.ask == Question::Ask::utilization;
        if (question.ask == Question::Ask::processes || utilization) question.gpu = uuid(message, "gpu");
        if (utilization) question.after_us = number(message, "after");
        return question;
    } catch (const Malformed& malformed) {
        return tl::unexpected(malformed.why);
    }
}

}  // namespace cgpu::gpu
