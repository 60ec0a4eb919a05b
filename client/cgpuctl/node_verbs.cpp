#include "client/cgpuctl/bench/bench.hpp"
#include "client/cgpuctl/cdi/cdi.hpp"
#include "client/cgpuctl/docker/runtime.hpp"
#include "client/cgpuctl/docker/swarm.hpp"
#include "client/cgpuctl/doctor/doctor.hpp"
#include "client/cgpuctl/jobs/verbs.hpp"
#include "client/cgpuctl/modules/module_actions.hpp"
#include "client/cgpuctl/queue/reserve.hpp"
#include "client/cgpuctl/verb_lists.hpp"
#include "client/cgpuctl/verbs/run.hpp"

namespace cgpu::cgpuctl {
namespace {

const Option kNoWait{"--no-wait", field<&JobInput::no_wait>, "",
                     "start the job and return; cgpuctl status shows its progress"};
const Option kCancel{"--cancel", field<&JobInput::cancel>, "", "cancel the job under way; it is rolled back"};

/// What a part is asked for by, and before it further options.
std::vector<Option> with_request(const std::vector<Option>& further) {
    std::vector<Option> all = {
        {"--mem", field<&PartInput::memory>, "SIZE", "memory limit on each GPU, with a unit: 4GiB, 5120MiB"},
        {"--weight", field<&PartInput::weight>, "N", "weight on each GPU"},
        {"--compute", field<&PartInput::compute>, "P%",
         "part of each GPU's compute, instead of a weight: 25%"},
        {"--profile", field<&PartInput::profile>, "PROFILE",
         "a set of values that the node's configuration has"},
        {"--time", field<&PartInput::time>, "DURATION",
         "how long it may run: 2h, 90m, 7d; default: what the configuration says"},
        {"--idle", field<&PartInput::idle>, "DURATION",
         "end it when it had no work on a GPU for so long: 30m"},
        {"--prio", field<&PartInput::priority>, "PRIORITY",
         "high (needs org.cgpu1.manage-instance) or normal; default: normal"},
        {"--gpus", field<&PartInput::gpus>, "LIST",
         "by index, UUID or PCI address: 0,1; or all; default: cgpud chooses"},
        {"--wait", field<&PartInput::wait_for>, "[FOR]",
         "wait in the queue if there is no room now, for 30s, 10m or 1h30m at most; alone: without an end"}};
    all.insert(all.end(), further.begin(), further.end());
    return all;
}

const Option kFolder{"--folder", field<&ModulesInput::folder>, "FOLDER",
                     "folder of the versions; default: /usr/lib/cgpu/module"};

std::vector<Verb> module_verbs() {
    return {
        {"module list",
         {},
         {kFolder, kJson, kNoLegend, kNoWarnings},
         nullptr,
         "Which versions are installed",
         "Which is in force, whether each can be used, and how many processes run it.",
         "cgpuctl module list",
         does<&module_list>,
         true},
        {"module show",
         {{"VERSION", field<&ModuleInput::what>, "an installed one"}},
         {kFolder, kJson, kNoWarnings},
         nullptr,
         "Everything about one version",
         "",
         "cgpuctl module show 1.2.3",
         does<&module_show>,
         true},
        {"module add",
         {{"FOLDER|TAR", field<&ModuleInput::what>, "the folder of a version, or a tar file with one in it"}},
         {kFolder, kDryRun, kQuiet},
         nullptr,
         "Install another version, beside those that are there (as root)",
         "It is copied as a whole or not at all, and never over an existing one.",
         "cgpuctl module add cgpu-module-1.2.3.tar",
         does<&module_add>,
         true},
        {"module remove",
         {{"VERSION", field<&ModuleInput::what>, "an installed one"}},
         {kFolder, kDryRun, kQuiet},
         nullptr,
         "Delete a version that nothing uses (as root)",
         "",
         "cgpuctl module remove 1.2.3",
         does<&module_remove>,
         true},
        {"module verify",
         {{"VERSION|FOLDER", field<&ModuleInput::what>, "default: all installed versions", true}},
         {kFolder, kJson, kQuiet},
         nullptr,
         "Whether a version can be used, or why not",
         "It checks whether the files belong to root, are not writable by others, are complete and fit this "
         "machine.",
         "cgpuctl module verify 1.2.3",
         does<&module_verify>,
         true},
    };
}

}  // namespace

std::span<const Verb> node_verbs() {
    static const std::vector<Verb> verbs = {
        {"run",
         {},
         with_request({{"--name", field<&PartInput::name>, "NAME",
                        "name of the instance; default: the command's name"},
                       {"--user", field<&RunInput::user>, "USER",
                        "user to run it as, a name or an id (root only); default: the caller of sudo, else "
                        "the caller"},
                       kDryRun,
                       kQuiet}),
         field<&RunInput::command>,
         "Run a command on a part of a GPU (as root, or with org.cgpu1.run)",
         "Settings without a flag are taken from the environment: ALIYUN_COM_GPU_* and CGPU_*. A "
         "variable CGPU_*, or an option, with an empty value is refused. With CGPU_DISABLE=1, or an "
         "amount of 0, the command isn't managed: it runs without a limit. The command sees the GPUs "
         "that it was granted and its memory limit; it keeps the process id, signals and descriptors of "
         "cgpuctl, which exits with the exit code of the command.",
         "cgpuctl run --mem 4GiB --weight 2 -- python3 train.py",
         does<&run>,
         true},
        {"reserve",
         {},
         with_request(
             {{"--hold", field<&ReserveInput::hold>, "DURATION",
               "how long it is held for its use: 30m, 2h, 1d at most; default: 10m"},
              {"--name", field<&PartInput::name>, "NAME", "name of the reservation; default: reservation"},
              kJson,
              kDryRun,
              kQuiet}),
         nullptr,
         "Hold a part of a GPU for a job to come (as root, or with org.cgpu1.run)",
         "Prints a token. The container or job that is started with CGPU_RESERVATION=TOKEN gets the "
         "part, once; it asks for no other. Containers may wait in the queue for a minute at most, and "
         "reserve --wait as long as it likes. A reservation that nobody uses ends after --hold; extend "
         "gives it more time, and stop gives it back. Settings without a flag are taken from the "
         "environment, as those of run.",
         "cgpuctl reserve --wait=4h --mem 4GiB",
         does<&reserve_verb>},
        {"doctor",
         {},
         {kJson, {"-q,--quiet", field<&Input::quiet>, "", "print only what is not ok"}},
         nullptr,
         "Check everything that cgpu needs on this node",
         "Driver, GPUs, cgpud, its configuration and folders, the module, Docker, Podman, CDI, polkit, "
         "and what former instances have left. Each finding says why it matters, and what to do about "
         "it. Changes nothing. Without root some things can't be read; they are listed as unchecked.\n"
         "Exit code 0: no problem was found, warnings or not; 1: a problem was found.",
         "cgpuctl doctor",
         does<&doctor_verb>,
         true},
        {"bench",
         {gpu_argument(field<&BenchInput::gpu>)},
         {{"--weights", field<&BenchInput::weights>, "N:N...", "one program for each weight; default: 1:2"},
          {"--seconds", field<&BenchInput::seconds>, "N", "how long to measure, in seconds; default: 10"},
          {"--kernel-us", field<&BenchInput::kernel_us>, "N",
           "work of a kernel, in microseconds of a GPU at 2 GHz; default: 1000"},
          {"--mem", field<&BenchInput::memory>, "SIZE", "memory limit of each program; default: 1GiB"},
          {"--force", field<&BenchInput::force>, "", "run even if other instances are on the GPU"},
          kJson,
          kNoLegend},
         nullptr,
         "Measure the share of a GPU that programs really get (as root)",
         "Runs programs that always have work, under the policy in force, and counts the kernels that "
         "each program completes.\n"
         "DUE and GOT are the target and the measured part of what all of them complete together; OFF BY "
         "is the difference in points of 100. The last line compares their sum with what one of them "
         "completes alone and without cgpu.",
         "cgpuctl bench 0 --weights 1:2",
         does<&bench>,
         true},
        {"module",
         {},
         {},
         nullptr,
         "The installed versions of the module",
         "Each version is a folder with an engine and its manifest.",
         "cgpuctl module list",
         {},
         true,
         module_verbs()},
        {"upgrade",
         {},
         {{"--hot", field<&UpgradeInput::hot>, "VERSION", "change running processes to it while they run"},
          {"--cold", field<&UpgradeInput::cold>, "VERSION", "change only while there is no instance"},
          {"--drain", field<&JobInput::drain>, "",
           "with --cold: admit no new instances, and wait for the others to end"},
          {"--timeout", field<&JobInput::timeout>, "S",
           "seconds after which it is rolled back; default: 60, with --cold 600"},
          kNoWait,
          kCancel,
          kJson,
          kDryRun,
          kQuiet},
         nullptr,
         "Move the node to another version of the module (as root)",
         "Hot: one process changes first, then all others. If anything fails, all processes go back, and "
         "the last line says why. The upgrade is refused if the versions don't declare themselves "
         "compatible, or a process can't change.\n"
         "Ctrl-C cancels it. Exit code 0: the version is in force; 1: it was rolled back; 4: it was "
         "refused.",
         "cgpuctl upgrade --hot 1.2.3",
         does<&upgrade>},
        {"set-mode",
         {{"MODE", field<&SetModeInput::mode>, "none, memory, memory+compute or configured", true}},
         {{"--drain", field<&JobInput::drain>, "",
           "admit no new instances, and wait for those with stronger isolation to end"},
          {"--wait", field<&SetModeInput::wait>, "",
           "wait also until no GPU serves another mode, because instances keep theirs until they end"},
          {"--timeout", field<&JobInput::timeout>, "S",
           "seconds after which the switch is given up, and --wait, too; default: 600"},
          until_reboot(field<&SetModeInput::runtime>),
          kNoWait,
          kCancel,
          kJson,
          kDryRun,
          kQuiet},
         nullptr,
         "Set what is isolated for instances that request no mode (as root)",
         "Applies to every GPU of the node. none: all instances share the whole card, and no limit is "
         "enforced.\n"
         "Lowering isolation requires that no instance with stronger isolation is running. Raising it "
         "takes effect for new instances; running ones keep their mode, and their GPU accepts no "
         "instance of the new mode until they end.\n"
         "configured: what the configuration files say holds again, for each GPU its own mode.\n"
         "Exit code 0: the mode is in force; 1: the former mode stays; 4: the switch was refused.",
         "cgpuctl set-mode none --drain",
         does<&set_mode>},
        {"runtime",
         {},
         {},
         nullptr,
         "Register cgpu's container runtime with an engine (as root)",
         "",
         "cgpuctl runtime configure",
         {},
         true,
         {{"runtime configure",
           {},
           {{"--for", field<&RuntimeInput::engine>, "ENGINE",
             "docker, podman or containerd; default: docker"},
            {"--as", field<&RuntimeInput::as>, "NAME",
             "register it under this name, too: nvidia, so that old command lines work"},
            {"--default", field<&RuntimeInput::make_default>, "",
             "use it for containers that name no runtime, too"},
            {"--remove", field<&RuntimeInput::remove>, "", "undo it, and restore the former configuration"},
            {"--file", field<&RuntimeInput::file>, "FILE",
             "Docker's or containerd's configuration; default: that of the running engine, else "
             "/etc/docker/daemon.json or /etc/containerd/config.toml"},
            {"--no-reload", field<&RuntimeInput::no_reload>, "",
             "don't tell a running dockerd to reload the file"},
            kDryRun,
            kQuiet},
           nullptr,
           "Register cgpu's container runtime with an engine (as root)",
           "All other keys of Docker's file stay. dockerd is told to reload the file, and asked what it "
           "has in force; if it doesn't take the runtime, the file is as before, and the exit code is 4. "
           "It is not restarted, and running containers are not affected. --remove leaves the file as it "
           "was found. Podman gets a file of its own in "
           "/etc/containers/containers.conf.d. containerd gets a table of its own for CRI (version 2 or 3 "
           "of its file), and reads it when it is restarted.",
           "cgpuctl runtime configure",
           does<&runtime>,
           true}}},
        {"swarm",
         {},
         {},
         nullptr,
         "Announce this node's GPUs to Docker Swarm (as root)",
         "",
         "cgpuctl swarm configure",
         {},
         true,
         {{"swarm configure",
           {},
           {{"--remove", field<&SwarmInput::remove>, "", "announce nothing any more"},
            {"--file", field<&SwarmInput::file>, "FILE",
             "Docker's configuration; default: that of the running dockerd, else /etc/docker/daemon.json"},
            kDryRun,
            kQuiet},
           nullptr,
           "Announce this node's GPUs to Docker Swarm (as root)",
           "Writes two generic resources of the node into Docker's file: cgpu_memory_mib, the memory of "
           "its GPUs, and cgpu_instances, how many instances they take. Run it again when GPUs or max_inst "
           "have changed; cgpuctl doctor says when. A service reserves its part by --generic-resource, and "
           "requests the same by CGPU_MEM. All other keys and resources stay. dockerd reads them only when "
           "it starts, and is not restarted.",
           "cgpuctl swarm configure",
           does<&swarm>,
           true}}},
        {"cdi",
         {},
         {},
         nullptr,
         "Describe parts of the GPUs as CDI devices, for docker and podman --device",
         "",
         "cgpuctl cdi generate --output /etc/cdi/cgpu.json",
         {},
         true,
         {{"cdi generate",
           {},
           {{"--output", field<&CdiInput::output>, "FILE",
             "write it there, as root: /etc/cdi/cgpu.json; default: print it"},
            kDryRun,
            kQuiet},
           nullptr,
           "Describe parts of the GPUs as CDI devices, for docker and podman --device",
           "The devices are 0-quarter, 0-half and 0-whole for each GPU, such as cgpu.org/gpu=0-quarter, "
           "and quarter, half and whole, for which cgpud chooses the GPU. A part is one of the memory and "
           "of the compute. Those without a GPU need cgpu's runtime; the others work with runc and crun, "
           "too. Engines read them from /etc/cdi/cgpu.json. Run it again when GPUs change.",
           "cgpuctl cdi generate --output /etc/cdi/cgpu.json",
           does<&cdi>,
           true}}},
    };
    return verbs;
}

}  // namespace cgpu::cgpuctl
