#include <algorithm>

#include "client/cgpuctl/base/verb.hpp"
#include "client/cgpuctl/base/verbs.hpp"

namespace cgpu::cgpuctl {
namespace {

const Option kJson{"--json", &Input::json, "", "print JSON: stable keys, bytes, seconds, shares of 0..1"};
const Option kNoLegend{"--no-legend", &Input::no_legend, "", "print tables without headings"};
const Option kQuiet{"-q,--quiet", &Input::quiet, "", "print nothing on success"};
const Option kOnlyIds{"-q,--quiet", &Input::quiet, "", "print full ids only"};
const Option kNoWarnings{"-q,--quiet", &Input::quiet, "", "leave out the warnings"};
const Option kDryRun{"--dry-run", &Input::dry_run, "", "check everything and change nothing"};
const Option kNoWait{"--no-wait", &Input::no_wait, "",
                     "start the job and return; cgpuctl status shows its progress"};
const Option kCancel{"--cancel", &Input::cancel, "", "cancel the job under way; it is rolled back"};
const Option kOnGpu{"--gpu", &Input::gpu, "GPU", "which of the instance's GPUs, if it has several"};
const Option kPersist{"--persist", &Input::persist, "",
                      "keep it for the next starts of the container or job of that name, too"};

const Argument kGpu{"GPU", &Input::gpu, "index or UUID"};
const Argument kInstances{"INSTANCE...", &Input::instances,
                          "id, unique prefix of an id, or name; one or more"};
const Argument kTarget{"INSTANCE|GPU", &Input::target,
                       "a bare number is a GPU's index if there is such a GPU"};
const Argument kPolicy{
    "POLICY", &Input::policy,
    "0 fair-share, 1 preemptive, 2 weighted, 3 fixed, 4 soft, 5 native: by number or name"};

const std::vector<Verb>& table() {
    static const std::vector<Verb> verbs = {
        {"status",
         {},
         {kJson, kNoLegend, kNoWarnings},
         false,
         "The node at a glance",
         "Versions, a line for each GPU, and warnings about things that need attention.",
         "cgpuctl status",
         &status},
        {"list",
         {},
         {{"--kept", &Input::kept, "", "show instead what --persist keeps for the next starts, and for whom"},
          kJson,
          kNoLegend,
          kOnlyIds},
         false,
         "The instances and what they use",
         "MEMORY is used / limit. SHARE is the target / achieved part of the GPU's compute in the last\n"
         "seconds, or native if the driver divides it. MODULE is the version that the instance's processes\n"
         "run, as far as they have reported it. Containers without a limit have the state unmanaged.",
         "cgpuctl list",
         &list},
        {"show",
         {kTarget},
         {kJson, kNoLegend},
         false,
         "Everything about one instance or one GPU",
         "For an instance this includes how many allocations its memory limit refused.",
         "cgpuctl show 0",
         &show},
        {"events",
         {{"INSTANCE", &Input::target, "name, id, or the beginning of an id: only what concerns it", true}},
         {{"--since", &Input::since, "TIME", "10min, 1h, yesterday, \"2026-01-31 08:15\""},
          {"--follow", &Input::follow, "", "show the last ten, and then each when it happens"},
          {"--gpu", &Input::gpu, "GPU", "only what concerns this one: index or UUID"},
          {"--type", &Input::type, "TYPE", "only events of it: setting-changed, for example"},
          kJson,
          kNoLegend},
         false,
         "What has happened on the node: the events in the journal",
         "Who was admitted or refused, who reached a memory limit, who changed what, upgrades, restarts of\n"
         "cgpud, GPUs that came and went. cgpud(8) lists the types. Users other than root must be in the\n"
         "group systemd-journal. --json prints an object a line.",
         "cgpuctl events web --since 1h",
         &events,
         true},
        {"describe",
         {},
         {{"--json", &Input::json, "", "the same: it prints nothing else"}},
         false,
         "The node as JSON, of one moment",
         "Settings and limits, without what is used. generation grows with every change: apply\n"
         "--if-generation refuses what was decided by an earlier one.",
         "cgpuctl describe",
         &describe},
        {"inspect",
         {},
         {{"-d,--details", &Input::details, "", "show each instance, too"}, kJson},
         false,
         "Memory granted of each GPU, and of the node",
         "GiB are those by which containers request: a card of 16130MiB counts as 15, and an instance with\n"
         "4301MiB of it as 4. cgpuctl list and --json have exact figures.",
         "cgpuctl inspect -d",
         &inspect},
        {"set-policy",
         {kGpu, kPolicy},
         {kDryRun, kQuiet},
         false,
         "Set how a GPU's compute is divided",
         "Takes effect within one period; running work is not interrupted.",
         "cgpuctl set-policy 0 weighted",
         &set_policy},
        {"set-max-inst",
         {kGpu, {"N", &Input::max_inst, "1 to 25"}},
         {kDryRun, kQuiet},
         false,
         "Set how many instances a GPU takes",
         "This is also the number of slices of the GPU's period, so weights are parts of it. A weight that\n"
         "was requested as a percentage is recomputed; if it would not be a whole number of slices, the\n"
         "change is refused.",
         "cgpuctl set-max-inst 0 20",
         &set_max_inst},
        {"set-prio-ratio",
         {kGpu, {"N", &Input::prio_ratio, "per cent, 20 to 99"}},
         {kDryRun, kQuiet},
         false,
         "Set how much of a GPU high-priority instances may use",
         "Applies while they are busy; the other instances share the rest by the policy.",
         "cgpuctl set-prio-ratio 0 80",
         &set_prio_ratio},
        {"set-default-memory",
         {{"SIZE", &Input::memory, "with a unit: 4GiB, 5120MiB; 0, or configured"}},
         {kDryRun, kQuiet},
         false,
         "Set the memory of those that request memory without a number",
         "That is ALIYUN_COM_GPU_MEM_CONTAINER with an empty value. With 0 such containers are not managed.\n"
         "It applies to new instances, wins over the configuration, and is kept over restarts of cgpud.\n"
         "`configured` takes it back: default_memory of the configuration applies again.",
         "cgpuctl set-default-memory 4GiB",
         &set_default_memory},
        {"set-weight",
         {kInstances, {"N", &Input::weight, "slices, 1 to the GPU's max_inst"}},
         {kOnGpu, kPersist, kJson, kDryRun, kQuiet},
         false,
         "Set the weight of an instance",
         "Weights count under the policies weighted and fixed. Setting one replaces a requested\n"
         "percentage: from then on the weight is a fixed number of slices.\n"
         "The weight holds until the instance ends; with --persist the next starts of the container or job\n"
         "of that name get it, too, instead of what they request.",
         "cgpuctl set-weight web 4",
         &set_weight},
        {"set-priority",
         {kInstances, {"PRIORITY", &Input::priority, "high or normal"}},
         {kOnGpu, kPersist, kJson, kDryRun, kQuiet},
         false,
         "Set the priority of an instance",
         "While a high-priority instance is busy, the policy does not apply to it, and it may use up to\n"
         "the GPU's prio_ratio; while it is idle, it uses nothing.\n"
         "The priority holds until the instance ends; with --persist the next starts of the container or\n"
         "job of that name get it, too.",
         "cgpuctl set-priority web high",
         &set_priority},
        {"set-memory",
         {kInstances, {"SIZE", &Input::memory, "with a unit: 4GiB, 5120MiB"}},
         {kOnGpu,
          {"--force", &Input::force, "",
           "allow less than it uses now: it keeps its memory, and gets no more until it fits"},
          kPersist,
          kJson,
          kDryRun,
          kQuiet},
         false,
         "Set the memory limit of an instance",
         "The limit applies at once. Lowering it below the current use needs --force; other instances may\n"
         "be granted that memory before it is free on the card.\n"
         "The limit holds until the instance ends; with --persist the next starts of the container or job\n"
         "of that name get it, too, instead of what they request.",
         "cgpuctl set-memory web 5120MiB --persist",
         &set_memory},
        {"apply",
         {{"FILE", &Input::file, "a command a line; - or none: standard input", true}},
         {{"--if-generation", &Input::if_generation, "N",
           "refuse it if the node has changed: describe has its generation"},
          {"--force", &Input::force, "", "as for set-memory"},
          kPersist,
          kJson,
          kDryRun,
          kQuiet},
         false,
         "Make several changes as one: all of them, or none",
         "A line is a command without the word cgpuctl: set-policy, set-max-inst, set-prio-ratio,\n"
         "set-memory, set-weight or set-priority; # begins a comment. They take effect together, and only\n"
         "the result is judged, so their order doesn't matter.",
         "cgpuctl apply night.txt",
         &apply},
        {"forget",
         {{"NAME", &Input::name, "name of a container or job, which need not be running"}},
         {{"--owner", &Input::owner, "UID", "whose, if several users have instances of that name"},
          kDryRun,
          kQuiet},
         false,
         "Drop the settings that --persist keeps for a name",
         "The next start of that name gets what it requests. Running instances do not change. cgpuctl list\n"
         "--kept shows the kept settings.",
         "cgpuctl forget web",
         &forget},
        {"config",
         {{"ACTION", &Input::action, "show, which is also the default, or check", true},
          {"FILE...", &Input::files, "check: the files, in the order in which they would be read", true}},
         {kJson, kNoLegend},
         false,
         "The configuration in force, and where each value comes from",
         "SOURCE is the file and line that set it, or `set on this node`: cgpuctl set it, or it was\n"
         "configured otherwise when the GPU was seen first. Values of the files that are not in force are\n"
         "listed with the command that puts them in force.\n"
         "check reads files over the shipped defaults, and says what cgpud would refuse, and changes\n"
         "nothing. Exit code 0: nothing; 1: something.",
         "cgpuctl config check /etc/cgpu/cgpud.yaml.d/new.yaml",
         &config},
        {"revert",
         {{"GPU|SETTING", &Input::target, "a GPU, by index or UUID, or default-memory or mode"}},
         {kDryRun, kQuiet},
         false,
         "Take back what was set on this node",
         "Policy, max_inst and prio_ratio of a GPU become what the configuration files say for it: all\n"
         "three, or none if one of them is refused.",
         "cgpuctl revert 0",
         &revert},
        {"run",
         {},
         {{"--mem", &Input::memory, "SIZE", "memory limit on each GPU, with a unit: 4GiB, 5120MiB"},
          {"--weight", &Input::weight, "N", "weight on each GPU"},
          {"--compute", &Input::compute, "P%", "part of each GPU's compute, instead of a weight: 25%"},
          {"--prio", &Input::priority, "PRIORITY", "high or normal; default: normal"},
          {"--gpus", &Input::gpus, "LIST", "indices or UUIDs: 0,1; default: cgpud chooses"},
          {"--name", &Input::name, "NAME", "name of the instance; default: the command's name"},
          {"--user", &Input::user, "USER",
           "user to run it as, a name or an id (root only); default: the caller of sudo, else the caller"},
          kDryRun,
          kQuiet},
         true,
         "Run a command on a part of a GPU (as root, or with org.cgpu1.run)",
         "Settings without a flag are taken from the environment: ALIYUN_COM_GPU_* and CGPU_*. The command\n"
         "sees the GPUs that it was granted and its memory limit; it keeps the process id, signals and\n"
         "descriptors of cgpuctl.",
         "cgpuctl run --mem 4GiB --weight 2 -- python3 train.py",
         &run,
         true},
        {"doctor",
         {},
         {kJson, {"-q,--quiet", &Input::quiet, "", "print only what is not ok"}},
         false,
         "Check everything that cgpu needs on this node",
         "Driver, GPUs, cgpud, its configuration and folders, the module, Docker, Podman, CDI, polkit, and\n"
         "what former instances have left. Each finding says why it matters, and what to do about it.\n"
         "Changes nothing. Without root some things can't be read; they are listed as unchecked.\n"
         "Exit code 0: no problem was found, warnings or not; 1: a problem was found.",
         "cgpuctl doctor",
         &doctor_verb,
         true},
        {"bench",
         {kGpu},
         {{"--weights", &Input::weights, "N:N...", "one program for each weight; default: 1:2"},
          {"--seconds", &Input::seconds, "N", "how long to measure, in seconds; default: 10"},
          {"--kernel-us", &Input::kernel_us, "N",
           "work of a kernel, in microseconds of a GPU at 2 GHz; default: 1000"},
          {"--mem", &Input::memory, "SIZE", "memory limit of each program; default: 1GiB"},
          {"--force", &Input::force, "", "run even if other instances are on the GPU"},
          kJson,
          kNoLegend},
         false,
         "Measure the share of a GPU that programs really get (as root)",
         "Runs programs that always have work, under the policy in force, and counts the kernels that each\n"
         "program completes.\n"
         "DUE and GOT are the target and the measured part of what all of them complete together; OFF BY\n"
         "is the difference in points of 100. The last line compares their sum with what one of them\n"
         "completes alone and without cgpu.",
         "cgpuctl bench 0 --weights 1:2",
         &bench,
         true},
        {"module",
         {{"ACTION", &Input::action, "list, show, add, remove or verify"},
          {"WHAT", &Input::what,
           "show, remove: VERSION; add: FOLDER or TAR; verify: VERSION or FOLDER, or all", true}},
         {{"--folder", &Input::folder, "FOLDER", "folder of the versions; default: /usr/lib/cgpu/module"},
          kJson,
          kNoLegend,
          kDryRun,
          kQuiet},
         false,
         "The installed versions of the module",
         "Each version is a folder with an engine and its manifest. add copies a version there, as a whole\n"
         "or not at all, and never over an existing one; remove deletes a version that nothing uses. Both\n"
         "need root. verify checks whether a version can be used: its files belong to root, are not\n"
         "writable by others, are complete and fit this machine. list, show and verify take --json.",
         "cgpuctl module list",
         &module,
         true},
        {"upgrade",
         {},
         {{"--hot", &Input::hot, "VERSION", "change running processes to it while they run"},
          {"--cold", &Input::cold, "VERSION", "change only while there is no instance"},
          {"--drain", &Input::drain, "",
           "with --cold: admit no new instances, and wait for the others to end"},
          {"--timeout", &Input::timeout, "S",
           "seconds after which it is rolled back; default: 60, with --cold 600"},
          kNoWait,
          kCancel,
          kJson,
          kDryRun,
          kQuiet},
         false,
         "Move the node to another version of the module (as root)",
         "Hot: one process changes first, then all others. If anything fails, all processes go back, and\n"
         "the last line says why. The upgrade is refused if the versions don't declare themselves\n"
         "compatible, or a process can't change.\n"
         "Ctrl-C cancels it. Exit code 0: the version is in force; 1: it was rolled back; 4: it was\n"
         "refused.",
         "cgpuctl upgrade --hot 1.2.3",
         &upgrade},
        {"set-mode",
         {{"MODE", &Input::mode, "none, memory or memory+compute", true}},
         {{"--drain", &Input::drain, "",
           "admit no new instances, and wait for those with stronger isolation to end"},
          {"--timeout", &Input::timeout, "S", "seconds after which the switch is given up; default: 600"},
          kNoWait,
          kCancel,
          kJson,
          kDryRun,
          kQuiet},
         false,
         "Set what is isolated for instances that request no mode (as root)",
         "Applies to every GPU of the node. none: all instances share the whole card, and no limit is\n"
         "enforced.\n"
         "Lowering isolation requires that no instance with stronger isolation is running. Raising it\n"
         "takes effect for new instances; running ones keep their mode, and their GPU accepts no instance\n"
         "of the new mode until they end.\n"
         "Exit code 0: the mode is in force; 1: the former mode stays; 4: the switch was refused.",
         "cgpuctl set-mode none --drain",
         &set_mode},
        {"runtime",
         {{"ACTION", &Input::action, "configure"}},
         {{"--for", &Input::engine, "ENGINE", "docker or podman; default: docker"},
          {"--as", &Input::as, "NAME",
           "register it under this name, too: nvidia, so that old command lines work"},
          {"--default", &Input::make_default, "", "use it for containers that name no runtime, too"},
          {"--remove", &Input::remove, "", "undo it, and restore the former configuration"},
          {"--file", &Input::file, "FILE", "Docker's configuration; default: /etc/docker/daemon.json"},
          {"--no-reload", &Input::no_reload, "", "don't tell a running dockerd to reload the file"},
          kDryRun,
          kQuiet},
         false,
         "Register cgpu's container runtime with Docker or Podman (as root)",
         "All other keys of Docker's file stay. Docker is told to reload the file; it is not restarted, and\n"
         "running containers are not affected. Podman gets a file of its own in\n"
         "/etc/containers/containers.conf.d.",
         "cgpuctl runtime configure",
         &runtime,
         true},
        {"help",
         {{"VERB", &Input::verb, "a verb; without it, all verbs are listed", true}},
         {},
         false,
         "Print help, also of one verb",
         "",
         "cgpuctl help set-weight",
         nullptr,
         true},
        {"version", {}, {}, false, "Print the version", "", "cgpuctl version", nullptr, true},
    };
    return verbs;
}

}  // namespace

const Option kHost{"-H,--host", &Input::host, "HOST", "do it on another machine, over ssh: user@machine"};

std::span<const Verb> verbs() { return table(); }

const Verb* find_verb(std::string_view name) {
    const auto found =
        std::find_if(table().begin(), table().end(), [&](const Verb& verb) { return verb.name == name; });
    return found == table().end() ? nullptr : &*found;
}

}  // namespace cgpu::cgpuctl
