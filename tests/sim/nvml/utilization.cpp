// How much each process used a GPU. By NVIDIA's documentation the driver keeps samples, and tells for each
// process that used the GPU since the moment that the caller names the average of those that are newer. What
// people have seen besides: processes that have ended are still listed, and values exceed 100.
#include <algorithm>
#include <ctime>
#include <vector>

#include "tests/sim/device/ledger/ledger.hpp"
#include "tests/sim/device/ledger/process_identity.hpp"
#include "tests/sim/nvml/process_uses.hpp"

using namespace simgpu;

namespace {

/// A sample for each eighth of a second, and room for eight of them.
constexpr auto kSampleUs = static_cast<unsigned long long>(BusyMeter::kBucket / 1000);
constexpr unsigned long long kSamples = 8;

struct Sample {
    unsigned int pid;
    unsigned int percent;
};

/// Those of one call, which are of the same moment.
struct Samples {
    unsigned long long time_us = 0;
    std::vector<Sample> all;
};

unsigned long long microseconds(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<unsigned long long>(time.tv_sec) * 1'000'000 +
           static_cast<unsigned long long>(time.tv_nsec) / 1000;
}

/// From the timeline's clock to the one that drivers tell samples by. To the millisecond, so that a sample
/// has the same time in each call.
unsigned long long clock_difference() {
    const unsigned long long difference = microseconds(CLOCK_REALTIME) - microseconds(CLOCK_MONOTONIC);
    return (difference + 500) / 1000 * 1000;
}

/// Busy time within the last `samples` samples, by slot.
std::vector<Nanoseconds> busy_times(const Layout& layout, std::uint32_t gpu_index, Nanoseconds samples) {
    std::vector<Nanoseconds> busy(layout.process_count);
    const GpuState& gpu = layout.timeline.gpus[gpu_index];
    for (std::uint32_t c = 0; c < gpu.client_count; ++c) {
        const ClientState& client = gpu.clients[c];
        if (client.process >= busy.size()) continue;
        // Another process may have the slot by now.
        if (client.alive || layout.processes[client.process].state == ProcessState::gone)
            busy[client.process] += client.served.last_eighths(layout.timeline.now, samples);
    }
    return busy;
}

/// The average of the samples that are newer. Where some are asked for by time, one less is counted than is
/// added up.
unsigned int average(Nanoseconds busy, unsigned long long samples, bool by_time) {
    const unsigned long long counted = by_time && samples > 1 ? samples - 1 : samples;
    return static_cast<unsigned int>(static_cast<unsigned long long>(busy) * 100 /
                                     (counted * static_cast<unsigned long long>(BusyMeter::kBucket)));
}

nvmlReturn_t samples_after(nvmlDevice_t handle, unsigned long long after_us, Samples& samples) {
    std::shared_ptr<Device> device;
    std::uint32_t gpu = 0;
    if (const nvmlReturn_t result = find_gpu(handle, device, gpu); result != NVML_SUCCESS) return result;
    if (device->mode(gpu) == GpuMode::mig) return NVML_ERROR_NOT_SUPPORTED;
    struct Found {
        ProcessEntry process;
        unsigned int percent;
    };
    std::vector<Found> found;
    {
        Session session(*device);
        look(session);
        const Layout& layout = session.layout();
        const auto last = static_cast<unsigned long long>(layout.timeline.now / BusyMeter::kBucket);
        samples.time_us = clock_difference() + last * kSampleUs;
        if (after_us >= samples.time_us) return NVML_ERROR_NOT_FOUND;
        const auto newer = std::min((samples.time_us - after_us + kSampleUs - 1) / kSampleUs, kSamples);
        const auto busy = busy_times(layout, gpu, static_cast<Nanoseconds>(newer));
        for (std::uint32_t slot = 0; slot < layout.process_count; ++slot)
            if (const auto percent = average(busy[slot], newer, after_us != 0);
                percent > 0 && layout.processes[slot].state != ProcessState::free)
                found.push_back({layout.processes[slot], percent});
    }
    for (const Found& entry : found)
        if (const int pid = pid_seen_from_here(entry.process); pid != 0)
            samples.all.push_back({static_cast<unsigned int>(pid), entry.percent});
    return samples.all.empty() ? NVML_ERROR_NOT_FOUND : NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t handle, nvmlProcessUtilizationSample_t* to,
                                             unsigned int* count, unsigned long long last_seen) {
    Samples samples;
    const nvmlReturn_t result = samples_after(handle, last_seen, samples);
    if (result != NVML_SUCCESS && result != NVML_ERROR_NOT_FOUND) return result;
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    if (result != NVML_SUCCESS) return result;
    return answer_list(samples.all, count, to, [&](const Sample& sample) {
        return nvmlProcessUtilizationSample_t{sample.pid, samples.time_us, sample.percent, 0, 0, 0};
    });
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t handle,
                                                   nvmlProcessesUtilizationInfo_v1_t* info) {
    Samples samples;
    const nvmlReturn_t result = samples_after(handle, info ? info->lastSeenTimeStamp : 0, samples);
    if (result != NVML_SUCCESS && result != NVML_ERROR_NOT_FOUND) return result;
    if (!info) return NVML_ERROR_INVALID_ARGUMENT;
    if (info->version != nvmlProcessesUtilizationInfo_v1) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (result != NVML_SUCCESS) return result;
    return answer_list(samples.all, &info->processSamplesCount, info->procUtilArray,
                       [&](const Sample& sample) {
                           return nvmlProcessUtilizationInfo_v1_t{
                               samples.time_us, sample.pid, sample.percent, 0, 0, 0, 0, 0};
                       });
}

}  // extern "C"
