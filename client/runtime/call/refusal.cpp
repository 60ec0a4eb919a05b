#include "client/runtime/call/refusal.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "files/read.hpp"

namespace cgpu::runtime {
namespace {

std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string as_ours(const std::string& text) { return "cgpu: " + text; }

std::string log_line(const std::string& message, bool as_json) {
    constexpr auto kReplace = nlohmann::json::error_handler_t::replace;  // bytes that are no text
    const nlohmann::ordered_json line = {{"level", "error"}, {"msg", message}, {"time", now()}};
    if (as_json) return line.dump(-1, ' ', false, kReplace) + "\n";
    return "time=\"" + now() + "\" level=error msg=" + line["msg"].dump(-1, ' ', false, kReplace) + "\n";
}

void say(const std::string& message) { std::fprintf(stderr, "%s\n", message.c_str()); }

}  // namespace

void report_failed_hook(const HookLog& log, const std::string& text) {
    const std::string message = as_ours(text);
    say(message);
    if (log.file.empty()) return;
    // In a user namespace a hook may not write there: then the message on stderr has to do.
    const std::string beside = log.file + ".cgpu";
    const auto written = files::write_text(beside, log_line(message, log.as_json));
    std::error_code error;
    if (written) std::filesystem::rename(beside, log.file, error);
    if (!written || error) std::filesystem::remove(beside, error);
}

void report_refusal(const Invocation& invocation, const std::string& text) {
    const std::string message = as_ours(text);
    say(message);
    if (invocation.log.empty()) return;
    std::ofstream(invocation.log, std::ios::app) << log_line(message, invocation.log_as_json);
}

}  // namespace cgpu::runtime
