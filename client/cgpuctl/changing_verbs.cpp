#include "client/cgpuctl/batch/apply.hpp"
#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/verb_lists.hpp"
#include "client/cgpuctl/verbs/changing.hpp"
#include "client/cgpuctl/verbs/config.hpp"

namespace cgpu::cgpuctl {
namespace {

const Option kPersist{"--persist", field<&ChangingInput::persist>, "",
                      "keep it for the next starts of the container or job of that name, too"};
Argument instances_argument(Field field) {
    return {"INSTANCE...", field, "id, unique prefix of an id, or name; one or more"};
}
const Argument kGpusOrNode{"GPU|node...", field<&DrainInput::gpus>,
                           "by index, UUID or PCI address; node: all GPUs that the node has now"};
const Option kOnOneGpu{"--gpu", field<&InstanceSettingInput::gpu>, "GPU",
                       "only on this GPU; default: on all of its GPUs"};
const Argument kPolicy{
    "POLICY", field<&GpuSettingInput::value>,
    "0 fair-share, 1 preemptive, 2 weighted, 3 fixed, 4 soft, 5 native, 6 proportional: by number or name"};

}  // namespace

std::span<const Verb> changing_verbs() {
    static const std::vector<Verb> verbs = {
        {"set-policy",
         {gpu_argument(field<&GpuSettingInput::gpu>), kPolicy},
         {kRuntime, kIfGeneration, kDryRun, kQuiet},
         nullptr,
         "Set how a GPU's compute is divided",
         "Takes effect within one period; running work is not interrupted.",
         "cgpuctl set-policy 0 weighted",
         does<&set_policy>},
        {"set-max-inst",
         {gpu_argument(field<&GpuSettingInput::gpu>), {"N", field<&GpuSettingInput::value>, "1 to 25"}},
         {kRuntime, kIfGeneration, kDryRun, kQuiet},
         nullptr,
         "Set how many instances a GPU takes",
         "This is also the number of slices of the GPU's period, so weights are parts of it. A weight "
         "that was requested as a percentage is recomputed; if it would not be a whole number of slices, "
         "the change is refused.",
         "cgpuctl set-max-inst 0 20",
         does<&set_max_inst>},
        {"set-prio-ratio",
         {gpu_argument(field<&GpuSettingInput::gpu>),
          {"N", field<&GpuSettingInput::value>, "per cent, 20 to 99"}},
         {kRuntime, kIfGeneration, kDryRun, kQuiet},
         nullptr,
         "Set how much of a GPU high-priority instances may use",
         "Applies while they are busy; the other instances share the rest by the policy.",
         "cgpuctl set-prio-ratio 0 80",
         does<&set_prio_ratio>},
        {"set-default-memory",
         {{"SIZE", field<&DefaultMemoryInput::memory>, "with a unit: 4GiB, 5120MiB; 0, or configured"}},
         {kRuntime, kIfGeneration, kDryRun, kQuiet},
         nullptr,
         "Set the memory of those that request memory without a number",
         "That is ALIYUN_COM_GPU_MEM_CONTAINER with an empty value. With 0 such containers are not "
         "managed. It applies to new instances, wins over the configuration, and is kept over restarts "
         "of cgpud. `configured` takes it back: default_memory of the configuration applies again.",
         "cgpuctl set-default-memory 4GiB",
         does<&set_default_memory>},
        {"set-weight",
         {instances_argument(field<&InstanceSettingInput::instances>),
          {"N", field<&InstanceSettingInput::value>,
           "slices, 1 to the GPU's max_inst; 25%: of the compute; 0: pause it"}},
         {on_gpu(field<&InstanceSettingInput::gpu>), kPersist, kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Set the weight of an instance",
         "Weights count under the policies weighted, fixed and proportional. A number replaces a "
         "percentage: from then on the weight is a fixed number of slices. A percentage must be a whole "
         "number of slices, stays that percentage when max_inst changes, and can't be kept with "
         "--persist.\n"
         "0 pauses the instance as cgpuctl pause does; any other weight resumes it, too.\n"
         "The weight holds until the instance ends; with --persist the next starts of the container or "
         "job of that name get it, too, instead of what they request.",
         "cgpuctl set-weight web 4",
         does<&set_weight>},
        {"set-priority",
         {instances_argument(field<&InstanceSettingInput::instances>),
          {"PRIORITY", field<&InstanceSettingInput::value>, "high or normal"}},
         {on_gpu(field<&InstanceSettingInput::gpu>), kPersist, kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Set the priority of an instance",
         "While a high-priority instance is busy, the policy does not apply to it, and it may use up to "
         "the GPU's prio_ratio; while it is idle, it uses nothing. A warning says so if high priority "
         "may lower the share that is due to the instance.\n"
         "The priority holds until the instance ends; with --persist the next starts of the container or "
         "job of that name get it, too.",
         "cgpuctl set-priority web high",
         does<&set_priority>},
        {"set-memory",
         {instances_argument(field<&InstanceSettingInput::instances>),
          {"SIZE", field<&InstanceSettingInput::value>, "with a unit: 4GiB, 5120MiB"}},
         {on_gpu(field<&InstanceSettingInput::gpu>),
          {"--force", field<&ChangingInput::force>, "",
           "allow less than it uses now: it keeps its memory, and gets no more until it fits"},
          {"--wait", field<&MemoryInput::wait>, "",
           "with --force: wait until it holds no more than the limit"},
          {"--timeout", field<&MemoryInput::timeout>, "S", "of --wait, in seconds; default: 60"},
          kPersist,
          kIfGeneration,
          kJson,
          kDryRun,
          kQuiet},
         nullptr,
         "Set the memory limit of an instance",
         "The limit applies at once. Lowering it below the current use needs --force; other instances "
         "may be granted that memory before it is free on the card. --wait returns when the program has "
         "freed it or has ended; after its time cgpuctl fails with exit code 1, and the limit stays set.\n"
         "The limit holds until the instance ends; with --persist the next starts of the container or "
         "job of that name get it, too, instead of what they request.",
         "cgpuctl set-memory web 5120MiB --persist",
         does<&set_memory>},
        {"stop",
         {instances_argument(field<&StopInput::instances>)},
         {{"--grace", field<&StopInput::grace>, "S", "seconds between SIGTERM and SIGKILL; default: 10"},
          kDryRun,
          kQuiet},
         nullptr,
         "End the processes of instances",
         "All get SIGTERM, and those that are there after the time SIGKILL. It returns when the "
         "instances are gone. cgpuctl does it with the rights of its caller: root, or the user whose "
         "processes they are. What these don't allow, cgpud does, if polkit authorizes the caller and "
         "kill.conf of cgpud(8) is in use. If one of them may not be signalled, none is. Ctrl-C "
         "meanwhile leaves out SIGKILL. The engine of a container may start it again, by its restart "
         "policy: docker stop ends that, too.",
         "cgpuctl stop web --grace 30",
         does<&stop_verb>,
         true},
        {"extend",
         {instances_argument(field<&ExtendInput::instances>),
          {"DURATION", field<&ExtendInput::time>, "30m, 2h, 1h30m, 7d"}},
         {kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Give instances with a time limit more time",
         "The time is added to the end or, if that has passed, begins now. The time without work of "
         "those with --idle begins anew. What the instance's owner may have by the limits of the "
         "configuration counts, unless the caller may manage all instances. A container that has ended "
         "when its time was over is refused when its engine starts it again; after extend it may be "
         "started for so long.",
         "cgpuctl extend train 2h",
         does<&extend_verb>},
        {"rename",
         {{"INSTANCE", field<&RenameInput::instance>, "id, unique prefix of an id, or name"},
          {"NAME", field<&RenameInput::name>, "what it is called from now on"}},
         {kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Give a job another name",
         "Everything that names it shows the new name. What it uses is under that name in cgpuctl "
         "report, from the interval of the history on that is under way. Owners may rename what is their "
         "own, and a reservation, too. Settings that --persist keeps go by the name with which a job is "
         "started. Containers have the names that their engines give them.",
         "cgpuctl rename train train-lr3",
         does<&rename_verb>},
        {"drain",
         {kGpusOrNode},
         {kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Let a GPU take no new instance",
         "Requests for it are refused, and those that name no GPU get another one. Instances that are on "
         "it stay and go on; a container that is started again is a new one. It holds until cgpuctl "
         "undrain, also over restarts of cgpud and of the machine.",
         "cgpuctl drain 0",
         does<&drain>},
        {"undrain",
         {kGpusOrNode},
         {kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Let a drained GPU take instances again",
         "",
         "cgpuctl undrain node",
         does<&undrain>},
        {"pause",
         {instances_argument(field<&InstanceSettingInput::instances>)},
         {kOnOneGpu, kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Let an instance compute nothing until it is resumed",
         "What it has launched ends, and the next launches wait. It keeps its memory, weight and "
         "priority, and others get its part of the GPU. Weight 0 means the same. It holds over a restart "
         "of cgpud; cgpuctl resume or set-weight ends it. While cgpud is not running for more than a "
         "second, a paused instance computes, unless on_daemon_loss is closed. Under policy native and "
         "in a mode without compute the driver divides the GPU: there it is refused, and if the policy "
         "is set later, the instance computes.",
         "cgpuctl pause web",
         does<&pause_verb>},
        {"resume",
         {instances_argument(field<&InstanceSettingInput::instances>)},
         {kOnOneGpu, kIfGeneration, kJson, kDryRun, kQuiet},
         nullptr,
         "Let a paused instance compute again",
         "It gets its part of the GPU by its weight, as before.",
         "cgpuctl resume web",
         does<&resume_verb>},
        {"apply",
         {{"FILE", field<&ApplyInput::file>, "a command a line; - or none: standard input", true}},
         {kIfGeneration,
          {"--skip-missing", field<&ApplyInput::skip_missing>, "",
           "leave out GPUs and instances that aren't there"},
          {"--force", field<&ChangingInput::force>, "", "as for set-memory"},
          kPersist,
          {"--runtime", field<&ChangingInput::runtime>, "",
           "what concerns GPUs: until the machine is started again"},
          kJson,
          kDryRun,
          kQuiet},
         nullptr,
         "Make several changes as one: all of them, or none",
         "A line is a command without the word cgpuctl: set-policy, set-max-inst, set-prio-ratio, drain, "
         "undrain, set-memory, set-weight, set-priority, pause, resume or revert; # begins a comment. "
         "They take effect together, and only the result is judged, so their order doesn't matter. With "
         "--skip-missing a line about a GPU or instance that isn't there is left out with a warning.",
         "cgpuctl apply night.txt",
         does<&apply>},
        {"forget",
         {{"NAME", field<&ForgetInput::name>, "name of a container or job, which need not be running"}},
         {{"--owner", field<&ForgetInput::owner>, "UID",
           "whose, if several users have instances of that name"},
          kIfGeneration,
          kDryRun,
          kQuiet},
         nullptr,
         "Drop the settings that --persist keeps for a name",
         "The next start of that name gets what it requests. Running instances do not change. cgpuctl "
         "list --kept shows the kept settings.",
         "cgpuctl forget web",
         does<&forget>},
        {"config",
         {},
         {},
         nullptr,
         "The configuration in force, and where each value comes from",
         "cgpuctl config alone is cgpuctl config show.",
         "cgpuctl config --check",
         {},
         false,
         {{"config show",
           {},
           {{"--check", field<&ConfigInput::check>, "",
             "only the values of the files that aren't in force; exit code 1: some"},
            kJson,
            kNoLegend},
           nullptr,
           "The values in force, and where each comes from",
           "SOURCE is the file and line that set it, or `set on this node`: cgpuctl set it. What nobody "
           "has set follows the files when cgpud reads them. Values of the files that are not in force "
           "are listed with the command that puts them in force; with --check, only those are, and exit "
           "code 1 means that there are some.",
           "cgpuctl config show",
           does<&config_show>},
          {"config check",
           {{"FILE...", field<&ConfigFilesInput::files>, "in the order in which they would be read"}},
           {},
           nullptr,
           "Whether cgpud would accept files",
           "It reads them as if they were in place, with the others that are there, and says what cgpud "
           "would refuse, and which GPUs they name that this node doesn't have, and changes nothing. Exit "
           "code 0: nothing; 1: something.",
           "cgpuctl config check /etc/cgpu/cgpud.yaml.d/new.yaml",
           does<&config_check>}},
         "show"},
        {"revert",
         {{"GPU|INSTANCE|SETTING...", field<&RevertInput::targets>,
           "GPUs, by index, UUID or PCI address, and instances, by id, unique prefix or name; or "
           "default-memory; or "
           "mode"}},
         {{"--gpu", field<&RevertInput::gpu>, "GPU",
           "of an instance: only on this GPU; default: on all of its GPUs"},
          {"--force", field<&ChangingInput::force>, "", "of an instance: allow less memory than it uses now"},
          {"--drain", field<&RevertInput::drain>, "", "of the mode: as for set-mode"},
          {"--timeout", field<&RevertInput::timeout>, "S", "of the mode: as for set-mode"},
          kIfGeneration,
          kDryRun,
          kQuiet},
         nullptr,
         "Take back what was set on this node",
         "GPU: policy, max_inst and prio_ratio become what the configuration files say for it; a drained "
         "one stays drained.\n"
         "INSTANCE: its memory limit, weight and priority become those that it was admitted with; a "
         "paused one stays paused. What --persist keeps for its next starts stays; cgpuctl forget drops "
         "that. Everything is taken back, or nothing if a part of it is refused. default-memory and mode "
         "are reverted alone; mode: as set-mode configured.",
         "cgpuctl revert 0",
         does<&revert>},
    };
    return verbs;
}

}  // namespace cgpu::cgpuctl
