#include "tests/sim/device/ledger/trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace simgpu {

void Trace::start() {
    session_.journal().save(layout_.trace);
    layout_.trace = TraceHead{1, 0, 0};
    for (std::uint32_t gpu = 0; gpu < layout_.gpu_count; ++gpu) {
        for (std::uint32_t slot = 0; slot < layout_.process_count; ++slot) {
            if (layout_.processes[slot].gpus[gpu].bytes() > 0) note(slot, gpu);
        }
        if (layout_.unowned_bytes[gpu] > 0) note(kNobody, gpu);
    }
    session_.journal().commit();
}

void Trace::note(std::uint32_t slot, std::uint32_t gpu) {
    if (layout_.trace.on == 0) return;
    TraceRecord record{};
    record.time = clock_now();
    record.gpu = gpu;
    if (slot == kNobody) {
        record.allocated_bytes = layout_.unowned_bytes[gpu];
    } else {
        const ProcessEntry& process = layout_.processes[slot];
        const GpuUse& use = process.gpus[gpu];
        record.serial = process.serial;
        record.pid = process.pid;
        record.context_bytes = use.context_bytes;
        record.module_bytes = use.module_bytes;
        record.allocated_bytes = use.allocated_bytes;
        std::memcpy(record.comm, process.comm, sizeof record.comm);
    }
    session_.append(record);
}

bool Trace::read(Device& device, const std::function<void(const TraceRecord&)>& visit) {
    TraceHead head;
    {
        Session session(device);
        head = session.layout().trace;
    }
    const int descriptor = device.open_file();
    if (descriptor < 0) return false;
    std::vector<TraceRecord> some(4096);
    std::uint64_t done = 0;
    while (done < head.count) {
        const std::uint64_t wanted = std::min<std::uint64_t>(some.size(), head.count - done);
        const auto got = pread(descriptor, some.data(), wanted * sizeof(TraceRecord),
                               static_cast<off_t>(kTraceOffset + done * sizeof(TraceRecord)));
        if (got != static_cast<ssize_t>(wanted * sizeof(TraceRecord))) break;
        std::for_each_n(some.begin(), wanted, visit);
        done += wanted;
    }
    close(descriptor);
    return done == head.count && head.lost == 0;
}

}  // namespace simgpu
