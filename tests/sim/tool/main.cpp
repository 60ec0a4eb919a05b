#include <CLI/CLI.hpp>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

#include "tests/sim/device/file/device_path.hpp"
#include "tests/sim/device/ledger/memory_limits.hpp"
#include "tests/sim/device/ledger/trace.hpp"
#include "tests/sim/tool/card_catalogue.hpp"
#include "tests/sim/tool/report.hpp"

namespace {

using simgpu::Device;
using Json = nlohmann::ordered_json;

std::unique_ptr<Device> open_device(const std::string& path) {
    auto device = Device::open(path);
    if (!device) {
        throw std::runtime_error(path + ": " + std::strerror(errno) +
                                 ". Try: simgpu create --gpus V100 --device " + path);
    }
    return device;
}

void create(const std::string& path, const std::string& gpus, const std::string& cards) {
    const int error = Device::create(path, simgpu::read_card_list(gpus, simgpu::card_folder(cards)));
    if (error != 0) throw std::runtime_error("can't make " + path + ": " + std::strerror(error));
}

void print_gpus(const Json& gpus) {
    for (const Json& gpu : gpus) {
        std::cout << gpu["index"] << ' ' << gpu["uuid"].get<std::string>() << ' '
                  << gpu["name"].get<std::string>() << ' '
                  << gpu["memory_bytes"].get<std::uint64_t>() / (1U << 20) << " MiB\n";
    }
}

void print_ledger(const Json& ledger) {
    for (const Json& gpu : ledger["gpus"]) {
        std::cout << "gpu " << gpu["index"] << " used " << gpu["used_bytes"] << " of " << gpu["memory_bytes"]
                  << " bytes, busy " << gpu["busy_us"] << " us, contexts " << gpu["contexts"] << '\n';
    }
    for (const Json& process : ledger["processes"]) {
        for (const Json& use : process["gpus"]) {
            std::cout << "pid " << process["pid"] << ' ' << process["comm"].get<std::string>()
                      << (process["alive"].get<bool>() ? " alive" : " gone") << " gpu " << use["gpu"]
                      << " bytes " << use["bytes"] << " (context " << use["context_bytes"] << ", modules "
                      << use["module_bytes"] << ", allocated " << use["allocated_bytes"] << ") peak "
                      << use["peak_bytes"] << " gpu_us " << use["gpu_us"] << '\n';
        }
    }
    std::cout << "holders " << ledger["holders"] << '\n';
}

void start_trace(Device& device) {
    simgpu::Session session(device);
    simgpu::Trace(session).start();
}

void print_trace(Device& device) {
    const bool whole = simgpu::Trace::read(device, [](const simgpu::TraceRecord& record) {
        if (record.gpu == simgpu::kTraceLocked) {
            std::cout << "locked " << record.time << ' ' << record.allocated_bytes << '\n';
            return;
        }
        std::cout << record.time << ' ' << record.serial << ' ' << record.pid << ' ' << record.gpu << ' '
                  << record.context_bytes << ' ' << record.module_bytes << ' ' << record.allocated_bytes
                  << ' ' << record.comm << '\n';
    });
    if (!whole) throw std::runtime_error("the trace has no room left, or can't be read. Try: trace --start");
}

void set_limit(Device& device, std::uint32_t gpu, const std::string& cgroup, std::uint64_t mib) {
    const std::uint64_t number = simgpu::cgroup_number(cgroup);
    if (number == 0) throw std::runtime_error(cgroup + ": there is no such folder");
    simgpu::Session session(device);
    if (!simgpu::MemoryLimits(session).set(gpu, number, mib << 20,
                                           mib == 0 ? simgpu::kNoMemoryLimit : mib << 20))
        throw std::runtime_error("there are too many limits. Try: take some away (0)");
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Simulated GPUs in a shared file");
    std::string path = simgpu::device_path();
    std::string gpus;
    std::string cards;
    bool json = false;
    bool start = false;
    app.require_subcommand(1);
    const auto verb = [&](const char* name, const char* help) {
        CLI::App* command = app.add_subcommand(name, help);
        command->add_option("--device", path, "The device file (default: $SIMGPU_DEVICE, or /dev/simgpu)");
        return command;
    };
    CLI::App* create_verb = verb("create", "Make the device file, with idle GPUs");
    create_verb->add_option("--gpus", gpus, "Cards, as V100:16130MiB*4,T4")->required();
    create_verb->add_option("--cards", cards, "Folder of card models");
    CLI::App* ledger_verb = verb("ledger", "Who holds how much memory and was served how much GPU time");
    ledger_verb->add_flag("--json", json, "As JSON");
    CLI::App* gpus_verb = verb("gpus", "The GPUs of the device");
    gpus_verb->add_flag("--json", json, "As JSON");
    CLI::App* trace_verb = verb("trace",
                                "What every process held from when on: a line for each change since "
                                "the start, NS SERIAL PID GPU CONTEXT MODULES ALLOCATED COMM; or 'locked NS "
                                "FOR_NS' when a stopped process kept all others from the GPUs");
    trace_verb->add_flag("--start", start, "Begin a trace instead, with what is held now");
    std::uint32_t gpu = 0;
    CLI::App* lose_verb = verb("lose", "A GPU falls off its bus");
    CLI::App* return_verb = verb("return", "A lost GPU is there again");
    CLI::App* xid_verb = verb("xid", "The driver reports an error of a GPU");
    std::uint64_t code = 0;
    CLI::App* mode_verb = verb("mode", "What nvidia-smi would set of a GPU");
    const std::map<std::string, simgpu::GpuMode> modes = {{"normal", simgpu::GpuMode::normal},
                                                          {"exclusive", simgpu::GpuMode::exclusive},
                                                          {"prohibited", simgpu::GpuMode::prohibited},
                                                          {"mig", simgpu::GpuMode::mig},
                                                          {"no-persistence", simgpu::GpuMode::fleeting}};
    simgpu::GpuMode mode{};
    for (CLI::App* one_gpu : {lose_verb, return_verb, xid_verb, mode_verb})
        one_gpu->add_option("gpu", gpu, "Its index")->required()->check(CLI::Range(0U, simgpu::kMaxGpus - 1));
    xid_verb->add_option("code", code, "NVIDIA's number of it")->required();
    mode_verb->add_option("mode", mode, "normal, exclusive, prohibited, mig or no-persistence")
        ->required()
        ->transform(CLI::Transformer(modes));
    CLI::App* limit_verb = verb("limit", "What nvidia-smi memory-limits would set, of a cgroup on a GPU");
    std::string cgroup;
    std::uint64_t limit_mib = 0;
    limit_verb->add_option("gpu", gpu, "Its index")->required()->check(CLI::Range(0U, simgpu::kMaxGpus - 1));
    limit_verb->add_option("cgroup", cgroup, "The cgroup's folder")->required();
    limit_verb->add_option("mib", limit_mib, "Soft and hard limit; 0: none")->required();
    CLI::App* unload_verb = verb("unload", "The driver is unloaded, as far as NVML is concerned");
    CLI::App* load_verb = verb("load", "The driver is loaded again");
    CLI11_PARSE(app, argc, argv);

    try {
        if (create_verb->parsed()) {
            create(path, gpus, cards);
            return 0;
        }
        const auto device = open_device(path);
        if (trace_verb->parsed()) {
            start ? start_trace(*device) : print_trace(*device);
            return 0;
        }
        if (lose_verb->parsed() || return_verb->parsed()) {
            device->lose(gpu, lose_verb->parsed());
            // As NVIDIA's driver reports it.
            if (lose_verb->parsed()) device->report_xid(gpu, 79);
            return 0;
        }
        if (xid_verb->parsed()) {
            device->report_xid(gpu, code);
            return 0;
        }
        if (mode_verb->parsed()) {
            device->set_mode(gpu, mode);
            return 0;
        }
        if (limit_verb->parsed()) {
            set_limit(*device, gpu, cgroup, limit_mib);
            return 0;
        }
        if (unload_verb->parsed() || load_verb->parsed()) {
            device->unload_driver(unload_verb->parsed());
            return 0;
        }
        const Json report =
            ledger_verb->parsed() ? simgpu::ledger_report(*device) : simgpu::gpus_report(*device);
        if (json) {
            std::cout << report.dump(2) << '\n';
        } else if (ledger_verb->parsed()) {
            print_ledger(report);
        } else {
            print_gpus(report);
        }
    } catch (const std::exception& error) {
        std::cerr << "simgpu: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
