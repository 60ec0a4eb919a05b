#include "client/runtime/call/refusal.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>

#include <nlohmann/json.hpp>

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

void say(const std::string& message) { std::fprintf(stderr, "%s\n", message.c_str()); }

}  // namespace

void report_failed_hook(const std::string& text) { say(as_ours(text)); }

void report_refusal(const Invocation& invocation, const std::string& text) {
    const std::string message = as_ours(text);
    say(message);
    if (invocation.log.empty()) return;
    const nlohmann::ordered_json line = {{"level", "error"}, {"msg", message}, {"time", now()}};
    std::ofstream log(invocation.log, std::ios::app);
    if (invocation.log_as_json)
        log << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    else
        log << "time=\"" << now() << "\" level=error msg=" << nlohmann::json(message).dump() << '\n';
}

}  // namespace cgpu::runtime
