#include "client/cgpuctl/trace/trace_reading.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <vector>

namespace cgpu::cgpuctl {
namespace {

using How = TraceEnd::How;

void take_signal(int signals) {
    signalfd_siginfo info{};
    [[maybe_unused]] const auto got = read(signals, &info, sizeof info);
}

/// Writes the records that are there as a whole, and removes them. False: they can't be read on.
bool write_records(std::vector<std::byte>& bytes, TraceJson& json, std::ostream& out, TraceEnd& end) {
    std::size_t at = 0;
    for (;;) {
        const auto decoded = trace::decode(std::span(bytes).subspan(at));
        if (decoded.broken) return false;
        if (decoded.bytes == 0) break;
        out << json.add(decoded.record);
        at += decoded.bytes;
        end.bytes += decoded.bytes;
        ++end.records;
    }
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}

How copy(int socket, int signals, TraceJson& json, std::ostream& out, TraceEnd& end,
         const std::function<void(const TraceEnd&)>& progress) {
    bool told = false;
    std::vector<std::byte> bytes;
    std::array<std::byte, std::size_t{64} << 10> block;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (;;) {
        std::array<pollfd, 2> ready{{{socket, POLLIN, 0}, {signals, POLLIN, 0}}};
        if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return How::broke_off;
        if (ready[1].revents != 0) {
            if (told) return How::interrupted;
            told = true;
            take_signal(signals);
            shutdown(socket, SHUT_WR);
        }
        if (ready[0].revents == 0) continue;
        const auto got = read(socket, block.data(), block.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got <= 0) return json.last() ? How::complete : How::broke_off;
        bytes.insert(bytes.end(), block.begin(), block.begin() + got);
        if (!write_records(bytes, json, out, end)) return How::unreadable;
        out.flush();
        if (!out) return How::unwritable;
        progress(end);
    }
}

}  // namespace

TraceEnd read_trace(int socket, int signals, TraceJson& json, std::ostream& out,
                    const std::function<void(const TraceEnd&)>& progress) {
    TraceEnd end;
    out << TraceJson::begin();
    end.how = copy(socket, signals, json, out, end, progress);
    out << json.end(end.bytes) << std::flush;
    if (!out) end.how = How::unwritable;
    return end;
}

}  // namespace cgpu::cgpuctl
