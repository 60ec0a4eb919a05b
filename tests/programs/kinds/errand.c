#define _GNU_SOURCE
#include "tests/programs/kinds/errand.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/include/simgpu/cuda.h"

enum { kNames = 11, kRowBytes = 65536 };

static struct {
    CUresult (*init)(unsigned int);
    CUresult (*total_mem)(size_t*, CUdevice);
    CUresult (*retain)(CUcontext*, CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*mem_info)(size_t*, size_t*);
    CUresult (*alloc)(CUdeviceptr*, size_t);
    CUresult (*alloc_pitch)(CUdeviceptr*, size_t*, size_t, size_t, unsigned int);
    CUresult (*create_array)(CUarray*, const CUDA_ARRAY_DESCRIPTOR*);
    CUresult (*alloc_async)(CUdeviceptr*, size_t, CUstream);
    CUresult (*alloc_managed)(CUdeviceptr*, size_t, unsigned int);
    CUresult (*free)(CUdeviceptr);
} driver;

static CUcontext context;
static int output = STDOUT_FILENO;

static const struct driver_name names[kNames] = {
    {"cuInit", "cuInit", 2000, 0},
    {"cuDeviceTotalMem", "cuDeviceTotalMem_v2", 3020, 0},
    {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", 7000, 0},
    {"cuCtxSetCurrent", "cuCtxSetCurrent", 4000, 0},
    {"cuMemGetInfo", "cuMemGetInfo_v2", 3020, 0},
    {"cuMemAlloc", "cuMemAlloc_v2", 3020, 0},
    {"cuMemAllocPitch", "cuMemAllocPitch_v2", 3020, 0},
    {"cuArrayCreate", "cuArrayCreate_v2", 3020, 0},
    {"cuMemAllocAsync", "cuMemAllocAsync", 11020, 1},
    {"cuMemAllocManaged", "cuMemAllocManaged", 6000, 0},
    {"cuMemFree", "cuMemFree_v2", 3020, 0},
};

void print_to(int descriptor) { output = descriptor; }

void print(const char* key, const char* value) { dprintf(output, "%s %s\n", key, value); }

void print_number(const char* key, unsigned long long value) { dprintf(output, "%s %llu\n", key, value); }

void fail(const char* call, long code) {
    dprintf(output, "error %s %ld\n", call, code);
    exit(1);
}

static void must(const char* call, CUresult result) {
    if (result != CUDA_SUCCESS) fail(call, result);
}

void find_driver(find_function find) {
    any_function found[kNames];
    for (int i = 0; i < kNames; ++i) {
        found[i] = find(&names[i]);
        if (found[i] == NULL) fail(names[i].symbol, -1);
    }
    _Static_assert(sizeof found == sizeof driver, "a pointer a name");
    memcpy(&driver, found, sizeof driver);
}

int initialise(void) { return driver.init(0); }

int ask_total(int device) {
    size_t total = 0;
    return driver.total_mem(&total, device);
}

void join_context(void) { must("cuCtxSetCurrent", driver.set_current(context)); }

void begin(int device) {
    must("cuInit", driver.init(0));
    size_t total = 0;
    must("cuDeviceTotalMem", driver.total_mem(&total, device));
    print_number("total_mem", total);
    must("cuDevicePrimaryCtxRetain", driver.retain(&context, device));
    join_context();
    size_t unused = 0;
    must("cuMemGetInfo", driver.mem_info(&unused, &total));
    print_number("mem_info_total", total);
}

static CUresult take_plain(size_t bytes) {
    CUdeviceptr address = 0;
    return driver.alloc(&address, bytes);
}

static CUresult take_pitch(size_t bytes) {
    CUdeviceptr address = 0;
    size_t pitch = 0;
    return driver.alloc_pitch(&address, &pitch, kRowBytes, bytes / kRowBytes, 4);
}

static CUresult take_array(size_t bytes) {
    const CUDA_ARRAY_DESCRIPTOR shape = {kRowBytes, bytes / kRowBytes, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array = NULL;
    return driver.create_array(&array, &shape);
}

static CUresult take_async(size_t bytes) {
    CUdeviceptr address = 0;
    return driver.alloc_async(&address, bytes, NULL);
}

static CUresult take_managed(size_t bytes) {
    CUdeviceptr address = 0;
    return driver.alloc_managed(&address, bytes, CU_MEM_ATTACH_GLOBAL);
}

int take_one(size_t bytes) { return take_plain(bytes); }

int take_and_free_one(size_t bytes) {
    CUdeviceptr address = 0;
    const CUresult result = driver.alloc(&address, bytes);
    return (int)(result != CUDA_SUCCESS ? result : driver.free(address));
}

size_t take_all(void) {
    static const struct {
        const char* key;
        CUresult (*take)(size_t);
    } ways[] = {
        {"refused.plain", take_plain}, {"refused.pitch", take_pitch},     {"refused.array", take_array},
        {"refused.async", take_async}, {"refused.managed", take_managed},
    };
    /* The small ones fill what the large ones leave. They are what the driver hands memory out in. */
    static const size_t pieces[] = {64 << 20, 2 << 20};
    enum { kWays = sizeof ways / sizeof *ways };
    CUresult last[kWays];
    size_t taken = 0;
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; ++p) {
        int open = kWays;
        memset(last, 0, sizeof last);
        while (open > 0) {
            for (int way = 0; way < kWays; ++way) {
                if (last[way] != CUDA_SUCCESS) continue;
                last[way] = ways[way].take(pieces[p]);
                if (last[way] == CUDA_SUCCESS) taken += pieces[p];
                if (last[way] != CUDA_SUCCESS) --open;
            }
        }
    }
    for (int way = 0; way < kWays; ++way) print_number(ways[way].key, last[way]);
    print_number("taken", taken);
    return taken;
}

void expect_end(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

void hold(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    dprintf(output, "ready\n");
    /* Other signals may come in between. */
    while (sigwaitinfo(&set, NULL) != SIGTERM) continue;
}

int do_errand(find_function find) {
    expect_end();
    find_driver(find);
    begin(0);
    take_all();
    hold();
    return 0;
}
