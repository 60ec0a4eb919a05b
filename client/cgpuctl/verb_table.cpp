#include <algorithm>

#include "client/cgpuctl/base/verb.hpp"
#include "client/cgpuctl/base/verbs.hpp"

namespace cgpu::cgpuctl {
namespace {

const Option kJson{"--json", &Input::json, "", "print JSON: stable keys, bytes, seconds, shares of 0..1"};
const Option kNoLegend{"--no-legend", &Input::no_legend, "", "leave out the heads of tables"};
const Option kQuiet{"-q,--quiet", &Input::quiet, "", "say nothing about what went well"};
const Option kOnlyIds{"-q,--quiet", &Input::quiet, "", "print full ids only"};
const Option kNoWarnings{"-q,--quiet", &Input::quiet, "", "leave out the warnings"};
const Option kDryRun{"--dry-run", &Input::dry_run, "", "check everything and change nothing"};
const Option kNoWait{"--no-wait", &Input::no_wait, "", "begin it only; cgpuctl status says how far it is"};
const Option kCancel{"--cancel", &Input::cancel, "", "end the job that is under way: it goes back"};
const Option kOnGpu{"--gpu", &Input::gpu, "GPU", "which of the instance's GPUs, where it has several"};
const Option kPersist{"--persist", &Input::persist, "",
                      "also for the next starts of the container or job of that name"};

const Argument kGpu{"GPU", &Input::gpu, "index or UUID"};
const Argument kInstance{"INSTANCE", &Input::instance, "id, unique beginning of an id, or name"};
const Argument kTarget{"INSTANCE|GPU", &Input::target,
                       "a bare number is a GPU's index where there is such a GPU"};
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
         "Versions, a line for each GPU, and warnings about what to look at.",
         "cgpuctl status",
         &status},
        {"list",
         {},
         {{"--kept", &Input::kept, "", "instead: what --persist has kept for next starts, and for whom"},
          kJson,
          kNoLegend,
          kOnlyIds},
         false,
         "The instances and what they use",
         "MEMORY is used / limit; SHARE is the part of the GPU's compute that is due / was got in the last "
         "seconds, or native where the driver divides it; MODULE is the version that its processes run, as "
         "far as they have said.",
         "cgpuctl list",
         &list},
        {"show",
         {kTarget},
         {kJson, kNoLegend},
         false,
         "Everything about one instance or one GPU",
         "Of an instance also how many allocations its memory limit refused.",
         "cgpuctl show 0",
         &show},
        {"set-policy",
         {kGpu, kPolicy},
         {kDryRun, kQuiet},
         false,
         "Set how a GPU's compute is divided",
         "In force within one period, without touching running work.",
         "cgpuctl set-policy 0 weighted",
         &set_policy},
        {"set-max-inst",
         {kGpu, {"N", &Input::max_inst, "1 to 25"}},
         {kDryRun, kQuiet},
         false,
         "Set how many instances a GPU takes",
         "It is also the number of slices that its period has, so weights are parts of it. A weight that was "
         "asked for as a percentage follows it; where that would be no whole number, it is refused.",
         "cgpuctl set-max-inst 0 20",
         &set_max_inst},
        {"set-prio-ratio",
         {kGpu, {"N", &Input::prio_ratio, "per cent, 20 to 99"}},
         {kDryRun, kQuiet},
         false,
         "Set how much of a GPU high-priority instances may take",
         "While they are busy; the others share what is left by the policy.",
         "cgpuctl set-prio-ratio 0 80",
         &set_prio_ratio},
        {"set-weight",
         {kInstance, {"N", &Input::weight, "slices, 1 to the GPU's max_inst"}},
         {kOnGpu, kPersist, kJson, kDryRun, kQuiet},
         false,
         "Set the weight of an instance",
         "Weights count under the policies weighted and fixed. A percentage that was asked for ends by it.\n"
         "It holds until the instance ends; with --persist its next starts get it, too, in place of what "
         "they "
         "ask for.",
         "cgpuctl set-weight web 4",
         &set_weight},
        {"set-priority",
         {kInstance, {"PRIORITY", &Input::priority, "high or normal"}},
         {kOnGpu, kPersist, kJson, kDryRun, kQuiet},
         false,
         "Set the priority of an instance",
         "While a high-priority instance is busy it is outside the policy and takes up to the GPU's "
         "prio_ratio; "
         "idle, it\n"
         "takes nothing. It holds until the instance ends; with --persist its next starts get it, too.",
         "cgpuctl set-priority web high",
         &set_priority},
        {"set-memory",
         {kInstance, {"SIZE", &Input::memory, "with a unit: 4GiB, 5120MiB"}},
         {kOnGpu,
          {"--force", &Input::force, "",
           "also below what it uses: it keeps that, and gets nothing new until it fits"},
          kPersist,
          kJson,
          kDryRun,
          kQuiet},
         false,
         "Set the memory limit of an instance",
         "In force at once. Below what it uses now only with --force; what was freed that way on paper can "
         "be given to\n"
         "others before it is free on the card. It holds until the instance ends; with --persist the next "
         "starts of the\n"
         "container or job of that name get it, too, in place of what they ask for.",
         "cgpuctl set-memory web 5120MiB --persist",
         &set_memory},
        {"forget",
         {{"NAME", &Input::name, "of a container or job, which need not be there"}},
         {{"--owner", &Input::owner, "UID", "whose, where several users have instances of that name"},
          kDryRun,
          kQuiet},
         false,
         "Drop what --persist has kept for a name",
         "Its next start gets what it asks for. What runs stays as it is. cgpuctl list --kept shows what is "
         "kept.",
         "cgpuctl forget web",
         &forget},
        {"run",
         {},
         {{"--mem", &Input::memory, "SIZE", "memory limit on each GPU, with a unit: 4GiB, 5120MiB"},
          {"--weight", &Input::weight, "N", "weight on each GPU"},
          {"--compute", &Input::compute, "P%", "part of each GPU's compute, instead of a weight: 25%"},
          {"--prio", &Input::priority, "PRIORITY", "high or normal; normal where not given"},
          {"--gpus", &Input::gpus, "LIST", "indices or UUIDs: 0,1; chosen for you where not given"},
          {"--name", &Input::name, "NAME", "what people call it; the command's name where not given"},
          {"--user", &Input::user, "USER",
           "as whom it runs, a name or an id (as root); where not given, who called sudo, else the caller"},
          kDryRun,
          kQuiet},
         true,
         "Run a command on a part of a GPU (by sudo)",
         "What no flag says is taken from the environment: ALIYUN_COM_GPU_* and CGPU_*. The command sees the "
         "GPUs it\n"
         "was granted and its memory limit; it keeps the process id, signals and descriptors of cgpuctl.",
         "cgpuctl run --mem 4GiB --weight 2 -- python3 train.py",
         &run},
        {"bench",
         {kGpu},
         {{"--weights", &Input::weights, "N:N...", "a program for each; 1:2 where not given"},
          {"--seconds", &Input::seconds, "N", "how long to measure; 10 where not given"},
          {"--kernel-us", &Input::kernel_us, "N",
           "work of a kernel, in microseconds of a GPU at 2 GHz; 1000 where not given"},
          {"--mem", &Input::memory, "SIZE", "memory limit of each; 1GiB where not given"},
          {"--force", &Input::force, "", "also while other instances are on the GPU"},
          kJson,
          kNoLegend},
         false,
         "Measure what programs really get of a GPU (as root)",
         "Runs programs that always have work, under the policy in force, and counts the kernels that each "
         "gets done.\n"
         "DUE and GOT are parts of what they get together, OFF BY is in points of 100. The last line says "
         "how much\n"
         "that is of what one of them gets alone and without cgpu.",
         "cgpuctl bench 0 --weights 1:2",
         &bench},
        {"module",
         {{"ACTION", &Input::action, "list, show, add, remove or verify"},
          {"WHAT", &Input::what,
           "show, remove: VERSION; add: FOLDER or TAR; verify: VERSION or FOLDER, or all", true}},
         {{"--folder", &Input::folder, "FOLDER",
           "where the versions lie; /usr/lib/cgpu/module where not given"},
          kJson,
          kNoLegend,
          kDryRun,
          kQuiet},
         false,
         "The installed versions of the module",
         "Each is a folder with an engine and its manifest. add copies one there, all of it or nothing, and "
         "never over "
         "one\n"
         "that is there; remove takes one away that nothing uses. Both as root. verify says whether a "
         "version can be "
         "used: its\n"
         "files are root's alone, whole and for this machine; --json with list, show and verify.",
         "cgpuctl module list",
         &module},
        {"upgrade",
         {},
         {{"--hot", &Input::hot, "VERSION", "running processes go over to it while they run"},
          {"--cold", &Input::cold, "VERSION", "only while there is no instance"},
          {"--drain", &Input::drain, "",
           "with --cold: admit no new instances, and wait for the others to end"},
          {"--timeout", &Input::timeout, "S",
           "seconds after which it goes back; 60, with --cold 600, where not given"},
          kNoWait,
          kCancel,
          kJson,
          kDryRun,
          kQuiet},
         false,
         "Move the node to another version of the module (as root)",
         "Hot: one process goes over first, then all others; whatever goes wrong, all go back, and the last "
         "line says\n"
         "why. Nothing is moved where the versions don't declare themselves compatible, or a process can't "
         "go over.\n"
         "Ctrl-C cancels it. Exit code 0 where the version is in force, 1 where it went back, 4 where it was "
         "refused.",
         "cgpuctl upgrade --hot 1.2.3",
         &upgrade},
        {"set-mode",
         {{"MODE", &Input::mode, "none, memory or memory+compute", true}},
         {{"--drain", &Input::drain, "",
           "admit no new instances, and wait for those to end that are isolated more"},
          {"--timeout", &Input::timeout, "S", "seconds after which it goes back; 600 where not given"},
          kNoWait,
          kCancel,
          kJson,
          kDryRun,
          kQuiet},
         false,
         "Set what is isolated for instances that ask for no mode (as root)",
         "On every GPU of the node. none: all share the whole card, and no limit is enforced. To isolate "
         "less, "
         "no\n"
         "instance may be there that is isolated more. To isolate more, nobody need end: who runs stays as "
         "it "
         "is, and\n"
         "its GPU takes nobody of the new mode until then. Exit code 0 where the mode is in force, 1 where "
         "it "
         "went back,\n"
         "4 where it was refused.",
         "cgpuctl set-mode none --drain",
         &set_mode},
        {"runtime",
         {{"ACTION", &Input::action, "configure"}},
         {{"--as", &Input::as, "NAME",
           "also under this name: nvidia, so that old command lines work unchanged"},
          {"--default", &Input::make_default, "", "also for containers that name no runtime"},
          {"--remove", &Input::remove, "", "undo it, and restore what was there before"},
          {"--file", &Input::file, "FILE", "Docker's configuration; /etc/docker/daemon.json where not given"},
          {"--no-reload", &Input::no_reload, "", "don't tell a running dockerd to read it again"},
          kDryRun,
          kQuiet},
         false,
         "Register cgpu's container runtime with Docker (as root)",
         "Everything else in the file stays. Docker is told to read it again; it is not restarted, and "
         "containers that\n"
         "run are not touched.",
         "cgpuctl runtime configure",
         &runtime},
    };
    return verbs;
}

}  // namespace

std::span<const Verb> verbs() { return table(); }

const Verb* find_verb(std::string_view name) {
    const auto found =
        std::find_if(table().begin(), table().end(), [&](const Verb& verb) { return verb.name == name; });
    return found == table().end() ? nullptr : &*found;
}

}  // namespace cgpu::cgpuctl
