#include "module/front/nvml_usage.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "module/front/connection.hpp"
#include "module/front/pages.hpp"
#include "module/front/waiting.hpp"

namespace cgpu::front {
namespace {

constexpr std::int64_t kTimeout = 2 * kSecond;

/// The observer's connection. One question at a time; a question is answered within kTimeout, so the lock is
/// held no longer.
class Observer {
  public:
    constexpr Observer() = default;
    Found ask(const std::array<std::uint8_t, 16>& uuid, MemoryUsage& usage);

  private:
    bool connect(std::int64_t until_ns);
    bool ask_usage(std::uint32_t gpu, std::int64_t until_ns, wire::Answer& answer);

    Descriptor socket_;
    Pages pages_;
    std::uint64_t request_ = 0;
};

constinit Observer observer;
constinit Mutex observer_mutex;
/// Whose connection it is: a forked child makes one of its own, and its copy of the lock may be held by
/// nobody.
constinit std::atomic<pid_t> owner{0};

void start_afresh_in_child() {
    const pid_t self = getpid();
    auto before = owner.load();
    if (before == self || !owner.compare_exchange_strong(before, self) || before == 0) return;
    observer_mutex.reset_in_child();
    observer = Observer{};
}

bool Observer::connect(std::int64_t until_ns) {
    if (socket_.usable() >= 0) return true;
    wire::Welcome welcome{};
    Packet packet;
    if (greet(wire::Role::observe, until_ns, socket_, welcome, packet) != Greeted::welcome) return false;
    const bool mapped = pages_.map({packet.files[0], -1, -1});
    drop_files(packet);
    if (!mapped) socket_.close();
    return mapped;
}

bool Observer::ask_usage(std::uint32_t gpu, std::int64_t until_ns, wire::Answer& answer) {
    auto message = wire::make_message<wire::Ask>(++request_);
    message.topic = wire::Topic::usage;
    message.gpu = gpu;
    if (send_message(socket_, message) != Sent::done) return false;
    while (now_ns() < until_ns) {
        pollfd entry{socket_.usable(), POLLIN, 0};
        if (poll(&entry, 1, static_cast<int>((until_ns - now_ns()) / kMillisecond) + 1) <= 0) continue;
        Packet packet;
        const Received received = receive_packet(socket_, packet);
        drop_files(packet);
        if (received == Received::lost) return false;
        const auto got = wire::read_message<wire::Answer>(packet.data());
        if (!got || got->header.request != message.header.request) continue;
        answer = *got;
        return true;
    }
    return false;
}

Found Observer::ask(const std::array<std::uint8_t, 16>& uuid, MemoryUsage& usage) {
    const auto until = now_ns() + kTimeout;
    // A connection made earlier may belong to a daemon that is gone: then once more with a new one.
    for (int tries = 0; tries < 2 && connect(until); ++tries) {
        const wire::Orders& orders = *pages_.orders();
        std::uint32_t gpu = 0;
        while (gpu < orders.gpu_count && std::memcmp(orders.gpus[gpu].uuid, uuid.data(), uuid.size()) != 0)
            ++gpu;
        if (gpu == orders.gpu_count) return Found::foreign;
        wire::Answer answer{};
        if (!ask_usage(gpu, until, answer)) {
            socket_.close();
            continue;
        }
        if (answer.why != wire::Why::none) return Found::no_daemon;
        if (orders.gpus[gpu].isolate_memory.load() == 0) return Found::unlimited;
        usage = {true, orders.gpus[gpu].limit_bytes.load(), answer.used_bytes};
        return Found::limited;
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

Found instance_memory(std::string_view uuid, MemoryUsage& usage) {
    const auto bytes = parse_uuid(uuid);
    if (!bytes) return Found::foreign;
    start_afresh_in_child();
    const Uncancelled uncancelled;
    const Locked lock(observer_mutex);
    return observer.ask(*bytes, usage);
}

}  // namespace cgpu::front
