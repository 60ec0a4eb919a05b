#pragma once

#include <string>
#include <vector>

namespace cgpu::cgpuctl {

/// The command line as it was written; each verb reads its own fields. Absent: empty.
struct Input {
    // arguments
    std::string gpu;
    std::vector<std::string> instances;
    std::string target;                ///< a GPU or an instance; of events and why, an instance
    std::vector<std::string> targets;  ///< of revert, drain and undrain
    std::string policy;
    std::string max_inst;
    std::string weight;
    std::string memory;
    std::string prio_ratio;
    std::string priority;  ///< high or normal; of run, too

    std::string name;   ///< of forget and run
    std::string owner;  ///< of forget: a user id

    // of run
    std::string gpus;
    std::string compute;
    std::string profile;
    std::string hold;      ///< of reserve: a duration
    std::string wait_for;  ///< --wait: a duration, or forever
    std::string time;      ///< of extend, too: a duration
    std::string idle;      ///< a duration
    std::string user;      ///< of list and ps, too
    std::vector<std::string> command;

    // of bench
    std::string weights;
    std::string seconds;  ///< of trace and why, too
    std::string kernel_us;

    // of top
    std::string delay;
    std::string count;

    // of module
    std::string what;    ///< a version, a folder or a tar file
    std::string folder;  ///< where the versions lie

    // of runtime, swarm, cdi, module and config
    std::string action;
    std::vector<std::string> files;  ///< of config

    std::string if_generation;  ///< of what changes settings
    std::string file;           ///< of apply, runtime and swarm

    std::string output;  ///< of cdi and trace: a file

    // of runtime
    std::string engine;
    std::string as;
    bool make_default = false;
    bool remove = false;  ///< of swarm, too
    bool no_reload = false;

    // of upgrade, set-mode and revert; timeout of set-memory and wait, too
    std::string hot;
    std::string cold;
    std::string mode;
    std::string timeout;
    bool drain = false;
    bool no_wait = false;
    bool cancel = false;

    // of events
    std::string since;  ///< of report, too
    std::string period;
    std::string type;
    std::string lines;

    std::string state;  ///< of list
    std::string grace;  ///< of stop: seconds

    bool skip_missing = false;  ///< of apply

    // of report
    std::string until;
    std::string by;   ///< name, gpu or day
    std::string svg;  ///< a file

    std::string host;  ///< another machine, reached over ssh
    std::string verb;  ///< of help

    bool json = false;
    bool no_legend = false;
    bool quiet = false;
    bool dry_run = false;
    bool force = false;
    bool persist = false;  ///< of set-memory, set-weight and set-priority
    bool runtime = false;  ///< of what sets GPUs and the node
    bool wait = false;     ///< of set-memory and set-mode
    bool kept = false;     ///< of list
    bool details = false;  ///< of inspect
    bool follow = false;   ///< of events
    bool csv = false;      ///< of report
    bool check = false;    ///< of config
    bool batch = false;    ///< of top
    bool yes = false;      ///< of top
};

}  // namespace cgpu::cgpuctl
