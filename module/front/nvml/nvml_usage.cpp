#include "module/front/nvml/nvml_usage.hpp"

#include <unistd.h>

#include <algorithm>

#include "module/front/base/waiting.hpp"
#include "module/front/nvml/observer.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kTimeout = 2 * kSecond;

/// A question is answered within kTimeout, so the lock is held no longer than that.
constinit Observer observer;
constinit Mutex observer_mutex;
/// The process that owns the connection: a forked child makes one of its own, and in its copy the lock may be
/// held by a thread that doesn't exist.
constinit std::atomic<pid_t> owner{0};

void start_afresh_in_child() {
    const pid_t self = getpid();
    auto before = owner.load();
    if (before == self || !owner.compare_exchange_strong(before, self) || before == 0) return;
    observer_mutex.reset_in_child();
    observer = Observer{};
}

/// Calls question(gpu, until_ns) while connected. It returns whether it was answered, or empty if the
/// connection can't be used.
template <class Question>
Found ask_of(std::string_view uuid, Question question) {
    const auto bytes = parse_uuid(uuid);
    if (!bytes) return Found::foreign;
    start_afresh_in_child();
    const Uncancelled uncancelled;
    const Locked lock(observer_mutex);
    const auto until = now_ns() + kTimeout;
    // An existing connection may be to a daemon that is gone: then try once more with a new one.
    for (int tries = 0; tries < 2 && observer.connect(until); ++tries) {
        const auto gpu = observer.find(*bytes);
        if (!gpu) return Found::foreign;
        const std::optional<bool> got = question(*gpu, until);
        if (!got) {
            observer.disconnect();
            continue;
        }
        if (!*got) return Found::no_daemon;
        return observer.orders().gpus[*gpu].isolate_memory.load() == 0 ? Found::unlimited : Found::limited;
    }
    return Found::no_daemon;
}

}  // namespace

std::optional<std::array<std::uint8_t, 16>> parse_uuid(std::string_view text) {
    std::array<std::uint8_t, 16> uuid{};
    std::size_t digits = 0;
    const auto prefix = text.find('-');
    if (prefix == std::string_view::npos) return std::nullopt;
    for (const char c : text.substr(prefix + 1)) {
        if (c == '-') continue;
        int digit = -1;
        if (c >= '0' && c <= '9') digit = c - '0';
        if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
        if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
        if (digit < 0 || digits == 2 * uuid.size()) return std::nullopt;
        uuid[digits / 2] = static_cast<std::uint8_t>(uuid[digits / 2] << 4 | digit);
        ++digits;
    }
    if (digits != 2 * uuid.size()) return std::nullopt;
    return uuid;
}

Found instance_has(std::string_view uuid) {
    return ask_of(uuid, [](std::uint32_t, std::int64_t) { return std::optional(true); });
}

Found instance_usage(std::string_view uuid, Usage& usage) {
    std::uint64_t limit = 0;
    const Found found = ask_of(uuid, [&](std::uint32_t gpu, std::int64_t until) -> std::optional<bool> {
        auto question = wire::make_message<wire::Ask>();
        question.topic = wire::Topic::usage;
        question.gpu = gpu;
        const auto answer = observer.ask<wire::Answer>(question, until);
        if (!answer) return std::nullopt;
        limit = observer.orders().gpus[gpu].limit_bytes.load();
        usage.used_bytes = answer->used_bytes;
        const std::uint32_t share = observer.orders().gpus[gpu].achieved_share.load();
        if (share > 0) usage.share = std::min(share - 1, 1000U);
        return answer->why == wire::Why::none;
    });
    usage.limited = found == Found::limited;
    usage.limit_bytes = limit;
    return found;
}

Found instance_processes(std::string_view uuid, ProcessList& processes) {
    return ask_of(uuid, [&](std::uint32_t gpu, std::int64_t until) -> std::optional<bool> {
        processes.clear();
        while (true) {
            auto question = wire::make_message<wire::AskProcesses>();
            question.gpu = gpu;
            question.after_pid = processes.last_pid();
            const auto page = observer.ask<wire::Processes>(question, until);
            if (!page) return std::nullopt;
            if (page->why != wire::Why::none || !processes.add(*page)) return false;
            if (page->more == 0 || page->count == 0) return true;
        }
    });
}

}  // namespace cgpu::front
