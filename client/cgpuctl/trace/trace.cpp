// trace: what happens on a GPU, as a file for ui.perfetto.dev.
#include <cerrno>
#include <csignal>
#include <fstream>
#include <ostream>
#include <string>
#include <system_error>

#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/output/held_signals.hpp"
#include "client/cgpuctl/output/values.hpp"
#include "client/cgpuctl/trace/trace.hpp"
#include "client/cgpuctl/trace/trace_json.hpp"
#include "client/cgpuctl/trace/trace_reading.hpp"
#include "core/model/quote.hpp"
#include "files/descriptor.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Kind = client::ClientError::Kind;

constexpr std::uint32_t kDefaultTraceSeconds = 10;
constexpr std::uint32_t kMostTraceSeconds = 3600;

Result<std::uint32_t> trace_seconds(const TraceInput& input) {
    if (input.seconds.empty()) return kDefaultTraceSeconds;
    const auto seconds = read_count("--seconds", input.seconds);
    if (!seconds) return tl::unexpected(seconds.error());
    if (*seconds == 0 || *seconds > kMostTraceSeconds)
        return client::fail(Kind::usage,
                            "--seconds " + input.seconds + ": it must be from 1 to 3600. Try: --seconds 10.");
    return *seconds;
}

std::string what_it_cost(const trace::Record& last) {
    const auto length = static_cast<double>(last.end - last.begin);
    const auto slicer = static_cast<std::uint64_t>(last.values[0]);
    const auto others = static_cast<std::uint64_t>(last.values[3]);
    return "It took " + duration_text(slicer + others) + " of cgpud's time (" +
           share_text(static_cast<double>(slicer + others) / length) + " of one CPU)";
}

Result<void> tell(const TraceEnd& end, const TraceJson& json, const TraceInput& input, Terminal& terminal) {
    const std::string file = input.output == "-" ? "stdout" : input.output;
    switch (end.how) {
        case TraceEnd::How::complete:
            break;
        case TraceEnd::How::broke_off:
            return client::fail(Kind::failed,
                                file + ": the trace broke off, because cgpud has ended; what came " +
                                    "before is in it. Try: journalctl -u cgpud.");
        case TraceEnd::How::interrupted:
            return client::fail(Kind::failed, file +
                                                  ": the trace broke off at the second signal; what came "
                                                  "before is in it. Try: trace again, and give one signal.");
        case TraceEnd::How::unreadable:
            return client::fail(Kind::failed, file +
                                                  ": cgpud's records can't be read; what came before is in "
                                                  "it. Try: use the cgpuctl that was installed with cgpud.");
        case TraceEnd::How::unwritable:
            return client::fail(Kind::failed,
                                file + ": it can't be written. Try: check whether the disk is full.");
    }
    const auto& last = *json.last();
    if (last.values[2] > 0)
        terminal.warning(file + ": " + counted(static_cast<std::size_t>(last.values[2]), "record") +
                         " were lost, because they were not written fast enough.");
    if (input.output != "-")
        terminal.done(file + ": " + duration_text(static_cast<std::uint64_t>(last.end - last.begin)) +
                      " of GPU " + input.gpu + " with " + counted(json.instances(), "instance") + ", " +
                      counted(end.records, "record") + ". " + what_it_cost(last) +
                      ". https://ui.perfetto.dev opens it.");
    return {};
}

}  // namespace

Result<void> trace_verb(const TraceInput& input, client::Node& node, Terminal& terminal) {
    const auto seconds = trace_seconds(input);
    if (!seconds) return tl::unexpected(seconds.error());
    if (input.output.empty())
        return client::fail(
            Kind::usage, "cgpuctl trace: a file for the trace is missing. Try: cgpuctl trace " + input.gpu +
                             " -o trace.json.");
    // From here on a signal ends the trace, and the file is completed.
    const HeldSignals signals{SIGINT, SIGTERM, SIGHUP};
    const auto started = node.start_trace(input.gpu, *seconds);
    if (!started) return tl::unexpected(started.error());
    const Descriptor socket(*started);
    std::ofstream file;
    if (input.output != "-") {
        file.open(input.output, std::ios::binary | std::ios::trunc);
        if (!file)
            return client::fail(Kind::failed,
                                "--output " + model::quote(input.output) +
                                    ": it can't be opened: " + std::generic_category().message(errno) +
                                    ". Try: name a file in a folder that you may write.");
    }
    TraceJson json;
    const auto end = read_trace(socket.fd(), signals.fd(), json, input.output == "-" ? terminal.out() : file,
                                [&](const TraceEnd& so_far) {
                                    terminal.progress("GPU " + input.gpu + ": " +
                                                      counted(so_far.records, "record") + "; Ctrl-C ends it");
                                });
    terminal.end_progress();
    return tell(end, json, input, terminal);
}

}  // namespace cgpu::cgpuctl
