#include "client/cgpuctl/events/events.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/queue/reserve.hpp"
#include "client/cgpuctl/report/report.hpp"
#include "client/cgpuctl/top/top.hpp"
#include "client/cgpuctl/trace/trace.hpp"
#include "client/cgpuctl/verb_lists.hpp"
#include "client/cgpuctl/verbs/looking.hpp"
#include "client/cgpuctl/why/why.hpp"

namespace cgpu::cgpuctl {
namespace {

const Option kOnlyIds{"-q,--quiet", field<&Input::quiet>, "", "print full ids only"};
const Option kOfGpu{"--gpu", field<&Choice::gpu>, "GPU",
                    "only those on this one: index, UUID or PCI address"};
const Option kOfUser{"--user", field<&Choice::user>, "USER", "only those of this one: a name or an id"};
const Argument kTarget{"INSTANCE|GPU", field<&ShowInput::target>,
                       "a bare number is a GPU's index if there is such a GPU"};

}  // namespace

std::span<const Verb> looking_verbs() {
    static const std::vector<Verb> verbs = {
        {"status",
         {},
         {kJson, kNoLegend, kNoWarnings},
         nullptr,
         "The node at a glance",
         "Versions, a line for each GPU, and warnings about things that need attention. A note says so "
         "if a module is installed that is newer than the one in force.",
         "cgpuctl status",
         does<&status>},
        {"list",
         {},
         {kOfGpu,
          kOfUser,
          {"--state", field<&Choice::state>, "STATE",
           "only those in it: queued, reserved, waiting, running, paused or unmanaged"},
          {"--kept", field<&ListInput::kept>, "",
           "show instead what --persist keeps for the next starts, and for whom"},
          kJson,
          kNoLegend,
          kOnlyIds},
         nullptr,
         "The instances and what they use",
         "MEMORY is used / limit. SHARE is the target / achieved part of the GPU's compute in the last "
         "seconds, or native if the driver divides it. MODULE is the version that the instance's "
         "processes run, as far as they have reported it. OWNER is the user that an instance runs as or, "
         "followed by (declared), the one that a container of root's engine says to be its owner; --user "
         "means those, too. Containers without a limit have the state unmanaged.",
         "cgpuctl list --user alice",
         does<&list>},
        {"queue",
         {},
         {kJson, kNoLegend},
         nullptr,
         "The requests that wait for their part of a GPU",
         "What each asks for and how long it has waited, in the order in which they start, as far as "
         "they don't delay each other. UNTIL: when a request waits no longer. STARTS WITHIN: at the "
         "latest, where the time limits of what runs say so. WAITS FOR: what keeps it from starting now. "
         "cgpuctl stop takes a request out of the queue.",
         "cgpuctl queue",
         does<&queue_verb>},
        {"ps",
         {{"INSTANCE...", field<&PsInput::instances>, "id, unique prefix of an id, or name; default: all",
           true}},
         {kOfGpu, kOfUser, kJson, kNoLegend},
         nullptr,
         "The processes of instances",
         "A line for each process and GPU: its host pid, the user that it runs as, what it has of the "
         "GPU's memory, and the name that it gives itself. What cgpud doesn't know is -. A process "
         "outside the module uses the GPU without it, so that no limit holds for it.",
         "cgpuctl ps web",
         does<&ps_verb>},
        {"logs",
         {{"INSTANCE", field<&LogsInput::instance>, "id, unique prefix of an id, or name"}},
         {},
         nullptr,
         "Where the output of an instance is: the command that shows it",
         "Of a container it is its engine's. Of a job it depends on where cgpuctl run was called: the "
         "journal of a service, a file, or a comment about a terminal or pipe that nobody keeps. cgpu "
         "keeps no output.",
         "cgpuctl logs web",
         does<&logs_verb>,
         true},
        {"wait",
         {{"INSTANCE...", field<&WaitInput::instances>, "id, unique prefix of an id, or name; one or more"}},
         {{"--timeout", field<&WaitInput::timeout>, "S", "give up after S seconds; default: never"},
          {"-q,--quiet", field<&Input::quiet>, "", "don't say which have ended"}},
         nullptr,
         "Wait until instances have ended",
         "A restart of cgpud meanwhile doesn't matter. Exit code 0: all have ended; 1: not within the "
         "time. How they have ended isn't known to cgpud.",
         "cgpuctl wait web train --timeout 3600",
         does<&wait_verb>},
        {"show",
         {kTarget},
         {kJson, kNoLegend},
         nullptr,
         "Everything about one instance or one GPU",
         "For an instance this includes how many allocations its memory limit refused.",
         "cgpuctl show 0",
         does<&show>},
        {"limits",
         {{"USER", field<&LimitsInput::user>, "a name or a user id, or containers; default: yourself", true}},
         {kJson, kNoLegend},
         nullptr,
         "What a user may have at most, and what is left of it",
         "The limits are set in the configuration, for users, groups and by default (cgpud.yaml(5)). "
         "SET-BY is the key that holds. `containers` are those of root's engine that nobody owns, all "
         "together. Only root may ask for another user's; under sudo and pkexec, those of the user who "
         "called it are shown.",
         "cgpuctl limits alice",
         does<&limits>},
        {"events",
         {{"INSTANCE", field<&EventsInput::instance>,
           "name, id, or the beginning of an id: only what concerns it", true}},
         {{"--since", field<&EventsInput::since>, "TIME", "10min, 1h, yesterday, \"2026-01-31 08:15\""},
          {"-n,--lines", field<&EventsInput::lines>, "N",
           "only the last N; with --follow: instead of ten, 0 for none"},
          {"-f,--follow", field<&EventsInput::follow>, "",
           "show the last ten, and then each when it happens"},
          {"--gpu", field<&EventsInput::gpu>, "GPU",
           "only what concerns this one: index, UUID or PCI address"},
          {"--type", field<&EventsInput::type>, "TYPE", "only events of it: setting-changed, for example"},
          kJson,
          kNoLegend},
         nullptr,
         "What has happened on the node: the events in the journal",
         "Who was admitted or refused, who reached a memory limit, who changed what, upgrades, restarts "
         "of cgpud, GPUs that came and went. cgpud(8) lists the types. Users other than root must be in "
         "the group systemd-journal. --json prints an object a line.",
         "cgpuctl events web --since 1h",
         does<&events>,
         true},
        {"report",
         {},
         {{"--since", field<&ReportInput::since>, "TIME",
           "10min, 1h, monday, last-week, \"2026-01-31 08:15\"; default: all that is kept"},
          {"--until", field<&ReportInput::until>, "TIME", "the same; default: now"},
          {"--period", field<&ReportInput::period>, "PERIOD",
           "instead of both: yesterday, last-week, last-month, 2026-01, 2026-01-31"},
          {"--by", field<&ReportInput::by>, "ROWS",
           "a row for each name, gpu, day, user, or user,day and so on; default: name"},
          {"--svg", field<&ReportInput::svg>, "FILE", "also draw a plot; -: print it instead"},
          {"--csv", field<&ReportInput::csv>, "", "print CSV, with seconds and bytes"},
          kJson,
          kNoLegend},
         nullptr,
         "Who had the GPUs: GPU time, memory, starts, refusals",
         "From the history that cgpud keeps on the disk: a record for each instance and minute, and sums "
         "of each day, which last 400 days. GPU-TIME is the larger of what an instance's processes "
         "measured and of the least that its turns cost. DUE and GOT are averages over the time in which "
         "the instances were there. GIB-HOURS are the memory used and granted. Waiting, memory peaks, "
         "refused requests and refused allocations are counted, too. The minute that isn't over is "
         "missing.",
         "cgpuctl report --period last-month --by user",
         does<&report_verb>,
         true},
        {"why",
         {{"INSTANCE", field<&WhyInput::instance>, "id, unique prefix of an id, or name"}},
         {on_gpu(field<&WhyInput::gpu>),
          {"--seconds", field<&WhyInput::seconds>, "N", "how long to measure, 1 to 3600; default: 3"},
          kJson},
         nullptr,
         "Why an instance gets what it gets of a GPU",
         "It measures for some seconds, accounts for the GPU's time, and explains the difference between "
         "the share that is due to the instance and the one that it got: missing work, waiting and for "
         "whom, long kernels, priorities, processes that cgpu doesn't hold, refused allocations.",
         "cgpuctl why trainer",
         does<&why_verb>},
        {"trace",
         {gpu_argument(field<&TraceInput::gpu>)},
         {{"--seconds", field<&TraceInput::seconds>, "N", "how long, 1 to 3600; default: 10"},
          {"-o,--output", field<&TraceInput::output>, "FILE", "where the trace goes; -: standard output"},
          kQuiet},
         nullptr,
         "Record what happens on a GPU, for ui.perfetto.dev",
         "Each instance's turns, waits at its gate, measured GPU time and memory, refused allocations, "
         "and cgpud's events, as JSON in Chrome's Trace Event Format, which https://ui.perfetto.dev "
         "opens. Ctrl-C ends it early. It replaces FILE. The last line says what the trace cost; a GPU "
         "has one trace at a time. Users other than root need org.cgpu1.trace.",
         "cgpuctl trace 0 --seconds 5 -o trace.json",
         does<&trace_verb>,
         true},
        {"describe",
         {},
         {{"--json", field<&Input::json>, "", "the same: it prints nothing else"}},
         nullptr,
         "The node as JSON, of one moment",
         "Settings, limits, and what is used: root gets figures of now, others those of the last second. "
         "generation grows with every change of settings: apply --if-generation refuses what was decided "
         "by an earlier one.",
         "cgpuctl describe",
         does<&describe>},
        {"inspect",
         {},
         {{"-d,--details", field<&InspectInput::details>, "", "show each instance, too"}, kJson},
         nullptr,
         "Memory granted of each GPU, and of the node",
         "GiB are those by which containers request: a card of 16130MiB counts as 15, and an instance "
         "with 4301MiB of it as 4. cgpuctl list and --json have exact figures.",
         "cgpuctl inspect -d",
         does<&inspect>},
        {"top",
         {},
         {{"-d,--delay", field<&TopInput::delay>, "S",
           "seconds between two readings, 0.1 to 3600; default: 1"},
          {"-n,--count", field<&TopInput::count>, "N", "end after N readings"},
          {"-b,--batch", field<&TopInput::batch>, "", "print each reading as text, for a file or a pipe"},
          {"-y,--yes", field<&TopInput::yes>, "",
           "make the changes of keys without asking whether they are meant"}},
         nullptr,
         "GPUs and instances, live, on the whole terminal",
         "DUE is the share of the GPU that the policy gives an instance, GOT the one that it has used "
         "since the reading before, WAIT how long its launches waited for their turn, as a part of that "
         "time. Keys sort, filter, and set the weight or the priority of the selected instance, or the "
         "policy of its GPU, after a question. ? lists them; q ends. In a locale without UTF-8 the bars "
         "are ASCII.",
         "cgpuctl top",
         does<&top_verb>},
    };
    return verbs;
}

}  // namespace cgpu::cgpuctl
