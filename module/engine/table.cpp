#include <new>

#include "module/engine/engine.hpp"
#include "module/engine/handover.hpp"

#ifndef CGPU_VERSION_NUMBER
#error "CGPU_VERSION_NUMBER: major << 16 | minor << 8 | patch"
#endif

// The functions of the table: each passes its call to the part that handles it. An index that no GPU can have
// is ignored: a launch on a GPU that isn't ours is not held.
namespace cgpu::module {
namespace {

Engine* create(const EngineHost* host) {
    void* memory = host->allocate(sizeof(Engine));
    return memory == nullptr ? nullptr : new (memory) Engine(*host);
}

void destroy(Engine* engine) {
    const EngineHost host = engine->host;
    engine->~Engine();
    host.free(engine);
}

void bind(Engine* engine, const wire::Orders* orders, wire::Reports* reports) {
    engine->accounting.bind(orders, reports);
    for (GpuCompute& gpu : engine->gpus) gpu.bind(orders, reports);
}

std::uint64_t reserve(Engine* engine, std::uint32_t gpu, std::uint64_t bytes) {
    return engine->accounting.reserve(gpu, bytes);
}

void commit(Engine* engine, std::uint32_t gpu, Holding kind, std::uint64_t key, std::uint64_t bytes,
            std::uint64_t reserved) {
    engine->accounting.commit(gpu, kind, key, bytes, reserved);
}

void cancel(Engine* engine, std::uint32_t gpu, std::uint64_t reserved) {
    engine->accounting.cancel(gpu, reserved);
}

std::uint32_t find(Engine* engine, Holding kind, std::uint64_t key, std::uint32_t* gpu,
                   std::uint64_t* bytes) {
    Held held{};
    if (!engine->accounting.find(kind, key, held)) return 0;
    *gpu = held.gpu;
    *bytes = held.bytes;
    return 1;
}

void freeing(Engine* engine, std::uint32_t begins) { engine->accounting.freeing(begins != 0); }

std::uint32_t release(Engine* engine, Holding kind, std::uint64_t key) {
    return engine->accounting.release(kind, key) ? 1 : 0;
}

std::uint64_t surrender(Engine* engine, Holding kind, std::uint64_t key) {
    return engine->accounting.surrender(kind, key);
}

void note_context(Engine* engine, Holding kind, std::uint64_t key, std::uint64_t context) {
    engine->accounting.note_context(kind, key, context);
}

void release_context(Engine* engine, std::uint64_t context) { engine->accounting.release_context(context); }

void lease(Engine* engine, std::uint32_t gpu, std::uint64_t bytes) { engine->accounting.lease(gpu, bytes); }

std::uint64_t spare(Engine* engine, std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep) {
    return engine->accounting.spare(gpu, wanted, keep);
}

std::uint64_t charged(Engine* engine, std::uint32_t gpu) { return engine->accounting.charged(gpu); }

std::uint64_t leased(Engine* engine, std::uint32_t gpu) { return engine->accounting.leased(gpu); }

std::uint64_t resize(Engine* engine, std::uint32_t gpu, Holding kind, std::uint64_t key, std::uint64_t bytes,
                     std::uint64_t reserved) {
    return engine->accounting.resize(gpu, kind, key, bytes, reserved);
}

void request_time(Engine* engine, const TimeRequest* request, TimeGrant* grant) {
    GpuCompute* gpu = engine->gpu(request->launch.gpu);
    *grant = TimeGrant{};
    grant->decision.act = Act::pass;
    if (gpu != nullptr) *grant = gpu->request_time(*request);
}

void return_time(Engine* engine, std::uint32_t index, BatchId batch, std::uint32_t launches,
                 std::int64_t ns) {
    if (GpuCompute* gpu = engine->gpu(index)) gpu->return_time(batch, launches, ns);
}

std::uint32_t may_estimate(Engine* engine, BatchId batch) {
    GpuCompute* gpu = engine->gpu_of(batch);
    return gpu != nullptr && gpu->may_estimate(batch) ? 1 : 0;
}

void estimated(Engine* engine, BatchId batch, std::int64_t end_ns, std::uint32_t by_event,
               std::int64_t now_ns, std::uint32_t* ring) {
    GpuCompute* gpu = engine->gpu_of(batch);
    *ring = gpu != nullptr && gpu->estimated(batch, end_ns, by_event != 0, now_ns) ? 1 : 0;
}

void first_launched(Engine* engine, BatchId batch, std::int64_t ns, std::int64_t now_ns) {
    if (GpuCompute* gpu = engine->gpu_of(batch)) gpu->first_launched(batch, ns, now_ns);
}

std::uint32_t next_open_batch(Engine* engine, std::uint32_t index, std::uint64_t context,
                              std::uint64_t stream, std::int64_t older_than_ns, OpenBatch* out) {
    GpuCompute* gpu = engine->gpu(index);
    return gpu != nullptr && gpu->next_open(context, stream, older_than_ns, *out) ? 1 : 0;
}

void closed(Engine* engine, BatchId batch, std::int64_t now_ns) {
    if (GpuCompute* gpu = engine->gpu_of(batch)) gpu->closed(batch, now_ns);
}

BatchId oldest(Engine* engine, std::uint32_t index, std::uint64_t context) {
    GpuCompute* gpu = engine->gpu(index);
    return gpu == nullptr ? 0 : gpu->oldest(context);
}

BatchId following(Engine* engine, BatchId batch) {
    GpuCompute* gpu = engine->gpu_of(batch);
    return gpu == nullptr ? 0 : gpu->following(batch);
}

void reaped(Engine* engine, BatchId batch, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now_ns,
            std::uint32_t* ring) {
    GpuCompute* gpu = engine->gpu_of(batch);
    *ring = gpu != nullptr && gpu->reaped(batch, start_ns, end_ns, now_ns) ? 1 : 0;
}

void lost(Engine* engine, BatchId batch) {
    if (GpuCompute* gpu = engine->gpu_of(batch)) gpu->lost(batch);
}

std::int64_t poll_at(Engine* engine, std::uint32_t index, std::int64_t now_ns) {
    GpuCompute* gpu = engine->gpu(index);
    return gpu == nullptr ? INT64_MAX : gpu->poll_at(now_ns);
}

void sync_begin(Engine* engine, std::uint32_t index, std::int64_t now_ns) {
    if (GpuCompute* gpu = engine->gpu(index)) gpu->sync_begin(now_ns);
}

void sync_end(Engine* engine, std::uint32_t index, std::int64_t now_ns) {
    if (GpuCompute* gpu = engine->gpu(index)) gpu->sync_end(now_ns);
}

std::uint64_t save_engine(Engine* engine, void* buffer, std::uint64_t bytes) {
    return save(*engine, buffer, bytes);
}

std::uint32_t restore_engine(Engine* engine, const void* saved, std::uint64_t bytes) {
    return restore(*engine, saved, bytes) ? 1 : 0;
}

constexpr EngineTable kTable{
    kEngineAbi,
    CGPU_VERSION_NUMBER,
    sizeof(EngineTable),
    create,
    destroy,
    bind,
    reserve,
    commit,
    cancel,
    find,
    freeing,
    release,
    surrender,
    note_context,
    release_context,
    lease,
    spare,
    charged,
    leased,
    resize,
    request_time,
    return_time,
    may_estimate,
    estimated,
    next_open_batch,
    closed,
    oldest,
    following,
    reaped,
    lost,
    poll_at,
    sync_begin,
    sync_end,
    save_engine,
    restore_engine,
    first_launched,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const EngineTable* cgpu_engine_table() { return &kTable; }

}  // namespace cgpu::module
