// The driver's devices, contexts and memory: cards with a heap that only counts.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "module/front/driver/cuda_abi.hpp"
#include "tests/unit/module/front/support/context_stack.hpp"
#include "tests/unit/module/front/support/front_driver.hpp"

using namespace fake;

namespace {

constexpr std::uint64_t kCardBytes = std::uint64_t{16} << 30;
constexpr std::uint64_t kForeignAddress = 0x6000'0000'0000;
constexpr std::uint64_t kForeignBytes = std::uint64_t{48} << 20;

struct Context {
    int device;
    bool primary;
};

std::mutex mutex;
std::atomic<bool> initialised{false};
int devices = 2;
int failures_left = 0;
std::uint64_t next_address = 0x7000'0000'0000;
std::map<std::uint64_t, std::uint64_t> heap;  // address, array or handle → bytes
/// Memory of a device's pool: after it was freed it ends with the work before the free.
struct Block {
    std::uint64_t bytes;
    int device;
    void* stream;
    bool in_use;
    std::int64_t free_at_ns;
    void* pool;
};
std::map<std::uint64_t, Block> blocks;
/// Of those that the program made; an address is never a pool's twice.
std::map<void*, bool> pool_alive;
std::atomic<int> dead_pools_asked{0};
std::atomic<int> asking_takes_us{0};
std::atomic<int> local_bytes{0};
std::size_t limits[3] = {};
Context primaries[2] = {{0, true}, {1, true}};
int primary_uses[2] = {};
thread_local constinit ContextStack<Context> stack{};

Context* current() { return stack.empty() ? nullptr : stack.back(); }

int take(std::uint64_t* key, std::uint64_t bytes) {
    const std::lock_guard lock(mutex);
    if (!initialised) return kNotInitialized;
    if (key == nullptr || bytes == 0) return kInvalidValue;
    if (failures_left > 0) {
        --failures_left;
        return kOutOfMemory;
    }
    std::uint64_t sum = bytes;
    for (const auto& [address, size] : heap) sum += size;
    if (sum > kCardBytes) return kOutOfMemory;
    *key = next_address;
    next_address += (bytes + (2 << 20) - 1) >> 21 << 21;
    heap[*key] = bytes;
    return kSuccess;
}

int give(std::uint64_t key) {
    const std::lock_guard lock(mutex);
    return heap.erase(key) != 0 ? kSuccess : kInvalidValue;
}

}  // namespace

// Read and set by the tests.
extern "C" __attribute__((visibility("default"))) std::uint64_t fake_heap_bytes() {
    const std::lock_guard lock(mutex);
    std::uint64_t sum = 0;
    for (const auto& [address, size] : heap) sum += size;
    return sum;
}
/// Before cuInit.
extern "C" __attribute__((visibility("default"))) void fake_set_devices(int count) { devices = count; }
extern "C" __attribute__((visibility("default"))) void fake_fail_next(int count) {
    const std::lock_guard lock(mutex);
    failures_left = count;
}

/// How often the driver was asked about a pool that it had destroyed, or destroyed during the call.
extern "C" __attribute__((visibility("default"))) int fake_dead_pools_asked() { return dead_pools_asked; }
/// How long the driver takes to answer a query of a pool, in microseconds.
extern "C" __attribute__((visibility("default"))) void fake_set_asking_us(int us) { asking_takes_us = us; }

API cuInit(unsigned) {
    initialised = true;  // without the lock: a child that is forked may call it
    return kSuccess;
}
API cuDriverGetVersion(int* version) {
    *version = 13000;
    return kSuccess;
}
API cuDeviceGetCount(int* count) {
    if (!initialised) return kNotInitialized;
    *count = devices;
    return kSuccess;
}
API cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return kSuccess;
}
API cuDeviceGetUuid(unsigned char* uuid, int device) {
    std::memset(uuid, device == 0 ? 0x11 : 0x22, 16);
    return kSuccess;
}
API cuDeviceGetAttribute(int* value, int, int) {
    *value = 1;
    return kSuccess;
}
API cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = kCardBytes;
    return kSuccess;
}
API cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    if (current() == nullptr) return kInvalidContext;
    *total = kCardBytes;
    *free = kCardBytes - fake_heap_bytes();
    return kSuccess;
}

API cuCtxCreate_v2(Context** context, unsigned, int device) {
    if (!initialised) return kNotInitialized;
    *context = new Context{device, false};
    stack.push_back(*context);
    return kSuccess;
}
API cuCtxDestroy_v2(Context* context) {
    stack.erase(context);
    {
        const std::lock_guard lock(mutex);
        std::erase_if(blocks, [&](const auto& each) {
            return each.second.device == context->device && heap.erase(each.first) != 0;
        });
    }
    delete context;
    return kSuccess;
}
API cuCtxGetCurrent(Context** context) {
    *context = current();
    return kSuccess;
}
API cuCtxSetCurrent(Context* context) {
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
    return kSuccess;
}
API cuCtxPushCurrent_v2(Context* context) {
    stack.push_back(context);
    return kSuccess;
}
API cuCtxPopCurrent_v2(Context** context) {
    *context = current();
    stack.pop_back();
    return kSuccess;
}
API cuCtxGetDevice(int* device) {
    if (current() == nullptr) return kInvalidContext;
    *device = current()->device;
    return kSuccess;
}
API cuDevicePrimaryCtxRetain(Context** context, int device) {
    ++primary_uses[device];
    *context = &primaries[device];
    return kSuccess;
}
API cuDevicePrimaryCtxRelease_v2(int device) {
    --primary_uses[device];
    return kSuccess;
}
API cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
    *flags = 0;
    *active = primary_uses[device] > 0;
    return kSuccess;
}

// A green context, which has a handle of its own and the primary context's memory.
API cuGreenCtxCreate(Context** green, void*, int device, unsigned) {
    ++primary_uses[device];
    *green = new Context{device, false};
    return kSuccess;
}
API cuCtxFromGreenCtx(Context** context, Context* green) {
    *context = green;
    return kSuccess;
}
API cuGreenCtxDestroy(Context* green) {
    --primary_uses[green->device];
    stack.erase(green);
    delete green;
    return kSuccess;
}
API cuGLCtxCreate_v2(Context** context, unsigned flags, int device) {
    return cuCtxCreate_v2(context, flags, device);
}
API cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) { return take(address, bytes); }
API cuMemFree_v2(std::uint64_t address) { return give(address); }
API cuMemAllocPitch_v2(std::uint64_t* address, std::size_t* pitch, std::size_t width, std::size_t height,
                       unsigned) {
    *pitch = (width + 511) / 512 * 512;
    return take(address, *pitch * height);
}
API cuMemAllocManaged(std::uint64_t* address, std::size_t bytes, unsigned) { return take(address, bytes); }
// Memory of another process: always the same, of 48 MiB.
struct IpcHandle {
    char bytes[64];
};
API cuIpcOpenMemHandle_v2(std::uint64_t* address, IpcHandle, unsigned) {
    *address = kForeignAddress;
    return kSuccess;
}
API cuMemGetAddressRange_v2(std::uint64_t* begin, std::size_t* bytes, std::uint64_t address) {
    const std::lock_guard lock(mutex);
    auto block = heap.upper_bound(address);
    const bool known = block != heap.begin() && address - (--block)->first < block->second;
    if (address != kForeignAddress && !known) return kInvalidValue;
    *begin = address == kForeignAddress ? address : block->first;
    *bytes = address == kForeignAddress ? kForeignBytes : block->second;
    return kSuccess;
}

// Pools keep nothing for later: a freed block goes back to the card when its stream has passed the free.
void settle_blocks() {
    const std::lock_guard lock(mutex);
    for (auto each = blocks.begin(); each != blocks.end();) {
        if (each->second.in_use || now_ns() < each->second.free_at_ns) {
            ++each;
            continue;
        }
        heap.erase(each->first);
        each = blocks.erase(each);
    }
}
int take_from_pool(std::uint64_t* address, std::size_t bytes, void* pool, void* stream) {
    settle_blocks();
    {
        const std::lock_guard lock(mutex);
        for (auto& [at, block] : blocks) {
            if (block.in_use || block.stream != stream || block.bytes != bytes || block.pool != pool)
                continue;
            block.in_use = true;
            *address = at;
            return kSuccess;
        }
    }
    const int result = take(address, bytes);
    const std::lock_guard lock(mutex);
    if (result == kSuccess) blocks[*address] = {bytes, current()->device, stream, true, 0, pool};
    return result;
}
API cuMemAllocAsync(std::uint64_t* address, std::size_t bytes, void* stream) {
    return take_from_pool(address, bytes, &primaries[current()->device], stream);
}
API cuMemAllocFromPoolAsync(std::uint64_t* address, std::size_t bytes, void* pool, void* stream) {
    return take_from_pool(address, bytes, pool, stream);
}
API cuMemPoolCreate(void** pool, const void*) {
    *pool = new char;
    const std::lock_guard lock(mutex);
    pool_alive[*pool] = true;
    return kSuccess;
}
API cuMemPoolDestroy(void* pool) {
    const std::lock_guard lock(mutex);
    const auto found = pool_alive.find(pool);
    if (found == pool_alive.end() || !found->second) return kInvalidValue;
    found->second = false;
    return kSuccess;
}
API cuMemFreeAsync(std::uint64_t address, void* stream) {
    const std::lock_guard lock(mutex);
    const auto found = blocks.find(address);
    if (found == blocks.end()) return kInvalidValue;
    found->second.in_use = false;
    found->second.stream = stream;
    found->second.free_at_ns = std::max(busy_until_ns.load(), now_ns());
    return kSuccess;
}
API cuMemPoolGetAttribute(void* pool, int attribute, std::uint64_t* value) {
    settle_blocks();
    std::this_thread::sleep_for(std::chrono::microseconds(asking_takes_us));
    const std::lock_guard lock(mutex);
    if (const auto own = pool_alive.find(pool); own != pool_alive.end() && !own->second) ++dead_pools_asked;
    *value = 0;
    for (const auto& [at, block] : blocks)
        if (pool == block.pool && (attribute == 5 || block.in_use)) *value += block.bytes;
    return kSuccess;
}
API cuMemPoolTrimTo(void*, std::size_t) {
    settle_blocks();
    return kSuccess;
}
// Graphs of one allocation each: their memory is taken at the first launch and kept until it is trimmed.
struct Graph {
    std::uint64_t bytes;
    std::uint64_t memory;  ///< 0: none
};
std::vector<Graph*> executables;
API fake_graph(Graph** graph, std::uint64_t bytes) {
    *graph = new Graph{bytes, 0};
    return kSuccess;
}
API cuGraphAddMemAllocNode(void**, Graph* graph, void**, std::size_t, const void* what) {
    std::memcpy(&graph->bytes, static_cast<const char*>(what) + 104, sizeof graph->bytes);
    return kSuccess;
}
API cuGraphAddNode_v3(void** node, Graph* graph, void** after, const void*, std::size_t count,
                      const cgpu::front::CUgraphNodeParams* what) {
    return cuGraphAddMemAllocNode(node, graph, after, count, &what->alloc);
}
API cuGraphGetNodes(Graph* graph, void** nodes, std::size_t* count) {
    *count = 1;
    if (nodes != nullptr) nodes[0] = graph;
    return kSuccess;
}
API cuGraphNodeGetType(Graph*, int* type) {
    *type = 10;
    return kSuccess;
}
API cuGraphMemAllocNodeGetParams(Graph* node, void* what) {
    const int device[2] = {1, 0};
    std::memcpy(static_cast<char*>(what) + 8, device, sizeof device);
    std::memcpy(static_cast<char*>(what) + 104, &node->bytes, sizeof node->bytes);
    return kSuccess;
}
API cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long) {
    *executable = new Graph{graph->bytes, 0};
    executables.push_back(*executable);
    return kSuccess;
}
API cuGraphLaunch(Graph* executable, void*) {
    return executable->memory != 0 ? kSuccess : take(&executable->memory, executable->bytes);
}
API cuDeviceGetGraphMemAttribute(int, int, std::uint64_t* bytes) {
    *bytes = 0;
    for (const Graph* each : executables) *bytes += each->memory != 0 ? each->bytes : 0;
    return kSuccess;
}
API cuDeviceGraphMemTrim(int) {
    for (Graph* each : executables)
        if (each->memory != 0) give(std::exchange(each->memory, 0));
    return kSuccess;
}
API cuMemCreate(std::uint64_t* handle, std::size_t bytes, const void*, unsigned long long) {
    return take(handle, bytes);
}
API cuMemRelease(std::uint64_t) { return kSuccess; }
API cuMemMap(std::uint64_t, std::size_t, std::size_t, std::uint64_t, unsigned long long) { return kSuccess; }
API cuMemUnmap(std::uint64_t, std::size_t) { return kSuccess; }
// A driver older than lazy loading; a module takes the length of its text.
API cuModuleLoadData(std::uint64_t* module, const void* image) {
    return take(module, std::strlen(static_cast<const char*>(image)));
}
/// The function with the same first letter is the same one.
API cuModuleGetFunction(void** function, std::uint64_t, const char* name) {
    static char functions[128];
    *function = &functions[static_cast<unsigned char>(*name) % sizeof functions];
    return kSuccess;
}
/// The local memory of each thread of any function.
extern "C" __attribute__((visibility("default"))) void fake_set_local_bytes(int bytes) {
    local_bytes = bytes;
}
API cuFuncGetAttribute(int* value, int attribute, void*) {
    *value = attribute == cgpu::front::kAttributeLocalBytes ? local_bytes.load() : 0;
    return kSuccess;
}
API cuModuleUnload(std::uint64_t module) { return give(module); }
API cuArrayCreate_v2(std::uint64_t* array, const void*) { return take(array, 1 << 20); }
API cuArrayDestroy(std::uint64_t array) { return give(array); }
API cuDeviceGetDefaultMemPool(void** pool, int device) {
    *pool = &primaries[device];
    return kSuccess;
}
API cuDeviceGetMemPool(void** pool, int device) { return cuDeviceGetDefaultMemPool(pool, device); }

API cuCtxGetLimit(std::size_t* value, int limit) {
    *value = limits[limit];
    return kSuccess;
}
API cuCtxSetLimit(int limit, std::size_t value) {
    limits[limit] = value;
    return kSuccess;
}
