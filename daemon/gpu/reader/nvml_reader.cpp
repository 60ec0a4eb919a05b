#include "daemon/gpu/reader/nvml_reader.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "daemon/gpu/reader/memory_limits.hpp"
#include "daemon/gpu/reader/utilization.hpp"
#include "files/read.hpp"

namespace cgpu::gpu {
namespace {

using model::Refusal;

constexpr unsigned kComputeModeProhibited = 2;
constexpr unsigned kComputeModeExclusiveProcess = 3;
constexpr auto kUnknownBytes = ~0ull;

bool is_in_mig_mode(const NvmlLibrary& nvml, NvmlDevice device) {
    unsigned current = 0;
    unsigned pending = 0;
    return nvml.mig_mode && nvml.mig_mode(device, &current, &pending) == kNvmlSuccess && current != 0;
}

/// Why this GPU takes no instance; empty if it does.
std::string obstacle(const NvmlLibrary& nvml, NvmlDevice device) {
    if (is_in_mig_mode(nvml, device)) return "it is in MIG mode, and MIG instances are not shared further";
    unsigned mode = 0;
    if (nvml.compute_mode(device, &mode) == kNvmlSuccess) {
        if (mode == kComputeModeExclusiveProcess)
            return "its compute mode is EXCLUSIVE_PROCESS, which lets one process in only";
        if (mode == kComputeModeProhibited) return "its compute mode is PROHIBITED";
    }
    return {};
}

app::DriverLimits limits_of(const NvmlLibrary& nvml, NvmlDevice device, const LimitHost& host) {
    LimitAnswer answer;
    answer.mig = is_in_mig_mode(nvml, device);
    if (nvml.memory_limits && !answer.mig) {
        NvmlMemoryLimits limits{host.own_cgroup.c_str(), 0, kNvmlNoLimit, 0};
        answer.code = nvml.memory_limits(device, &limits);
        answer.text = nvml.error_string(*answer.code);
        answer.hard = limits.hard;
    }
    answer.has_function = nvml.memory_limits != nullptr;
    return judge_limits(host, answer);
}

/// Error: NVML's code.
tl::expected<ListedProcesses, int> read_processes(NvmlLibrary::Processes list, NvmlDevice device) {
    std::vector<NvmlProcess> found(64);
    for (;;) {
        auto count = static_cast<unsigned>(found.size());
        const int code = list(device, &count, found.data());
        if (code == kNvmlInsufficientSize && found.size() < 65536) {
            // More processes may start before the next call.
            found.resize(std::max<std::size_t>(count, found.size()) * 2);
            continue;
        }
        if (code != kNvmlSuccess) return tl::unexpected(code);
        found.resize(count);
        break;
    }
    ListedProcesses listed;
    listed.processes.reserve(found.size());
    for (const auto& process : found) {
        const bool known = process.used_bytes != kUnknownBytes;
        listed.processes.push_back({static_cast<std::int32_t>(process.pid), known ? process.used_bytes : 0});
        listed.all_known = listed.all_known && known;
    }
    return listed;
}

}  // namespace

tl::unexpected<Refusal> NvmlReader::failed(const std::string& what, int code) const {
    return model::refuse(Refusal::Reason::unsupported, what,
                         "NVML says: " + std::string(nvml_ ? nvml_->error_string(code) : "not loaded"),
                         "look at nvidia-smi on this host");
}

tl::expected<void, Refusal> NvmlReader::ready() {
    if (nvml_) return {};
    auto library = NvmlLibrary::load();
    if (!library)
        return model::refuse(Refusal::Reason::unsupported, "GPUs of this host", library.error(),
                             "install the NVIDIA driver (470 or later) and look at nvidia-smi");
    if (const int code = library->init(); code != kNvmlSuccess) {
        const std::string why = std::string("NVML doesn't start: ") + library->error_string(code);
        // Otherwise the next try would find this library again, though another driver may be installed by
        // then.
        library->unload();
        return model::refuse(Refusal::Reason::unsupported, "GPUs of this host", why,
                             "look at nvidia-smi on this host");
    }
    nvml_ = *library;
    xids_.emplace(*nvml_);
    return {};
}

tl::expected<model::SeenGpu, std::string> NvmlReader::describe(unsigned index, model::Bytes& used) {
    const auto lost = [this](int code) {
        return tl::unexpected("NVML says: " + std::string(nvml_->error_string(code)));
    };
    NvmlDevice device = nullptr;
    if (int code = nvml_->device_by_index(index, &device); code != kNvmlSuccess) return lost(code);
    model::SeenGpu gpu;
    gpu.index = index;
    std::array<char, kNvmlUuidBytes> text{};
    if (int code = nvml_->uuid(device, text.data(), text.size()); code != kNvmlSuccess) return lost(code);
    const auto uuid = model::Uuid::parse(text.data());
    if (!uuid) return tl::unexpected(uuid.error());
    gpu.uuid = *uuid;
    text.fill('\0');
    if (nvml_->name(device, text.data(), text.size()) == kNvmlSuccess) gpu.model_name = text.data();
    if (NvmlPci pci{}; nvml_->pci && nvml_->pci(device, &pci) == kNvmlSuccess)
        gpu.pci = model::PciAddress{pci.domain, pci.bus, pci.device};
    NvmlMemoryV2 v2{};
    v2.version = kNvmlMemoryV2Version;
    if (nvml_->memory_v2 && nvml_->memory_v2(device, &v2) == kNvmlSuccess) {
        gpu.total = model::Bytes(v2.total - std::min(v2.total, v2.reserved));
        used = model::Bytes(v2.used);
    } else {
        NvmlMemoryV1 v1{};
        if (int code = nvml_->memory_v1(device, &v1); code != kNvmlSuccess) return lost(code);
        gpu.total = model::Bytes(v1.total);
        used = model::Bytes(v1.used);
    }
    gpu.obstacle = obstacle(*nvml_, device);
    xids_->watch(device, gpu.uuid);
    return gpu;
}

std::vector<model::MpsServer> NvmlReader::mps_servers(const model::SeenGpu& gpu) {
    std::vector<model::MpsServer> servers;
    NvmlDevice device = nullptr;
    if (nvml_->device_by_index(gpu.index, &device) != kNvmlSuccess) return servers;
    const auto listed = read_processes(nvml_->compute_processes, device);
    if (!listed) return servers;
    for (const app::DriverProcess& process : listed->processes) {
        const auto name = files::read_text("/proc/" + std::to_string(process.pid) + "/comm", 32);
        // The names of the server and of the daemon that starts it are cut to the same 15 characters.
        if (name == std::string("nvidia-cuda-mps\n")) servers.push_back({gpu.uuid, process.pid});
    }
    return servers;
}

app::Result<unsigned> NvmlReader::count(const std::string& what) {
    unsigned count = 0;
    const int code = nvml_->device_count(&count);
    if (code == kNvmlSuccess) return count;
    auto refusal = failed(what, code);
    xids_.reset();
    nvml_->shutdown();
    nvml_->unload();
    nvml_.reset();
    return refusal;
}

app::Result<model::SeenGpus> NvmlReader::list() {
    if (auto ok = ready(); !ok) return tl::unexpected(ok.error());
    const auto counted = count("GPUs of this host");
    if (!counted) return tl::unexpected(counted.error());
    model::SeenGpus seen;
    for (unsigned index = 0; index < *counted; ++index) {
        model::Bytes used;
        if (auto gpu = describe(index, used)) {
            std::ranges::copy(mps_servers(*gpu), std::back_inserter(seen.mps_servers));
            seen.memory_used.emplace(gpu->uuid, used);
            seen.gpus.push_back(std::move(*gpu));
        } else {
            seen.lost.push_back({index, gpu.error()});
        }
    }
    seen.xids = xids_->take();
    return seen;
}

app::Result<NvmlDevice> NvmlReader::find(const model::Uuid& gpu) {
    const auto wanted = gpu.to_string();
    const auto counted = count(wanted);
    if (!counted) return tl::unexpected(counted.error());
    for (unsigned index = 0; index < *counted; ++index) {
        NvmlDevice device = nullptr;
        std::array<char, kNvmlUuidBytes> text{};
        if (nvml_->device_by_index(index, &device) == kNvmlSuccess &&
            nvml_->uuid(device, text.data(), text.size()) == kNvmlSuccess &&
            model::Uuid::parse(text.data()) == gpu)
            return device;
    }
    return model::refuse(Refusal::Reason::not_found, wanted, "the driver doesn't show this GPU now",
                         "look at nvidia-smi -L");
}

app::Result<app::DriverFigures> NvmlReader::processes(const model::Uuid& gpu) {
    if (auto ok = ready(); !ok) return tl::unexpected(ok.error());
    const auto device = find(gpu);
    if (!device) return tl::unexpected(device.error());
    const auto used = [&]() -> std::optional<std::uint64_t> {
        NvmlMemoryV1 memory{};
        if (nvml_->memory_v1(*device, &memory) != kNvmlSuccess) return std::nullopt;
        return memory.used;
    };
    const auto before = used();
    auto listed = processes_on(*device, gpu);
    if (!listed) return tl::unexpected(listed.error());
    // Beside a process of unknown use, the GPU's own figure says nothing of the others.
    if (!listed->all_known) return app::DriverFigures{std::move(listed->processes)};
    return app::DriverFigures{std::move(listed->processes), before, used()};
}

app::Result<ListedProcesses> NvmlReader::processes_on(NvmlDevice device, const model::Uuid& gpu) {
    auto compute = read_processes(nvml_->compute_processes, device);
    if (!compute) return failed("processes of " + gpu.to_string(), compute.error());
    ListedProcesses all = std::move(*compute);
    // A process of several kinds is in several lists.
    for (const auto list : {nvml_->graphics_processes, nvml_->mps_processes}) {
        if (list == nullptr) continue;
        const auto others = read_processes(list, device);
        if (!others && (others.error() == kNvmlNotSupported || others.error() == kNvmlNoPermission)) continue;
        if (!others) return failed("processes of " + gpu.to_string(), others.error());
        all.all_known = all.all_known && others->all_known;
        for (const auto& other : others->processes)
            if (!std::ranges::count(all.processes, other.pid, &app::DriverProcess::pid))
                all.processes.push_back(other);
    }
    return all;
}

app::Result<std::vector<app::UtilizationSample>> NvmlReader::utilization(const model::Uuid& gpu,
                                                                         std::uint64_t after_us) {
    if (auto ok = ready(); !ok) return tl::unexpected(ok.error());
    const auto device = find(gpu);
    if (!device) return tl::unexpected(device.error());
    const auto samples = is_in_mig_mode(*nvml_, *device) ? tl::unexpected(kNvmlNotSupported)
                                                         : read_utilization(*nvml_, *device, after_us);
    if (!samples) return failed("use of " + gpu.to_string() + " by process", samples.error());
    return *samples;
}

app::Result<app::ExaminedDriver> NvmlReader::examine() {
    if (auto ok = ready(); !ok) return tl::unexpected(ok.error());
    const auto counted = count("GPUs of this host");
    if (!counted) return tl::unexpected(counted.error());
    app::ExaminedDriver driver;
    const LimitHost host = read_limit_host();
    std::array<char, kNvmlVersionBytes> version{};
    if (nvml_->driver_version && nvml_->driver_version(version.data(), version.size()) == kNvmlSuccess)
        driver.version = version.data();
    for (unsigned index = 0; index < *counted; ++index) {
        NvmlDevice device = nullptr;
        std::array<char, kNvmlUuidBytes> text{};
        if (nvml_->device_by_index(index, &device) != kNvmlSuccess ||
            nvml_->uuid(device, text.data(), text.size()) != kNvmlSuccess)
            continue;
        const auto uuid = model::Uuid::parse(text.data());
        if (!uuid) continue;
        auto listed = processes_on(device, *uuid);
        if (!listed) continue;
        app::ExaminedGpu gpu{*uuid, std::nullopt, std::move(listed->processes)};
        unsigned persistence = 0;
        if (nvml_->persistence_mode && nvml_->persistence_mode(device, &persistence) == kNvmlSuccess)
            gpu.persistence = persistence != 0;
        gpu.limits = limits_of(*nvml_, device, host);
        driver.gpus.push_back(std::move(gpu));
    }
    return driver;
}

}  // namespace cgpu::gpu
