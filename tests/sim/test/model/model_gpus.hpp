#pragma once

#include <sys/mman.h>

#include <memory>

#include "tests/sim/model/timeline.hpp"

namespace simgpu::test {

constexpr Nanoseconds kMicrosecond = 1000;
constexpr Nanoseconds kMillisecond = 1'000'000;
constexpr Nanoseconds kSlice = 2 * kMillisecond;
constexpr Nanoseconds kSwitch = 50 * kMicrosecond;

/// GPUs in virtual time, with the rings in this process's memory.
class ModelGpus {
  public:
    explicit ModelGpus(std::uint32_t gpus) : bytes_(RingTable::bytes(gpus)) {
        rings_ = static_cast<Ring*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        state->gpu_count = gpus;
        for (std::uint32_t g = 0; g < gpus; ++g) {
            state->gpus[g].active = -1;
            state->gpus[g].slice = kSlice;
            state->gpus[g].switch_cost = kSwitch;
        }
    }
    ~ModelGpus() { munmap(rings_, bytes_); }
    ModelGpus(const ModelGpus&) = delete;
    ModelGpus& operator=(const ModelGpus&) = delete;

    /// A new context of `process` on the GPU. @return its client number.
    std::uint32_t add_client(std::uint32_t gpu, std::uint32_t process, std::uint32_t queues) {
        GpuState& g = state->gpus[gpu];
        ClientState& client = g.clients[g.client_count];
        client.alive = 1;
        client.process = process;
        client.serial = ++state->serial;
        client.queue_count = queues;
        return g.client_count++;
    }

    Record& push(const Position& place, RecordKind kind, Nanoseconds arrival) {
        Ring& ring = rings().at(place.gpu, place.client, place.queue);
        const std::uint64_t sequence = ring.tail.load();
        Record& record = ring.at(sequence);
        record.kind = kind;
        record.arrival = arrival;
        ring.tail.store(sequence + 1);
        return record;
    }
    Record& kernel(const Position& place, Nanoseconds arrival, Nanoseconds duration) {
        Record& record = push(place, RecordKind::kernel, arrival);
        record.duration = duration;
        return record;
    }

    void advance(Nanoseconds to) { Timeline(*state, rings(), Timeline::Stamps::write).advance(to); }
    Nanoseconds served(std::uint32_t gpu, std::uint32_t client) const {
        return state->gpus[gpu].clients[client].served.total();
    }
    RingTable rings() const { return RingTable(rings_); }

    std::unique_ptr<TimelineState> state = std::make_unique<TimelineState>();

  private:
    std::uint64_t bytes_;
    Ring* rings_;
};

}  // namespace simgpu::test
