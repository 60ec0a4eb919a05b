#define _GNU_SOURCE
#include "tests/programs/kinds/errand/errand.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/kinds/errand/errand_driver.h"

struct driver_functions driver;

static CUcontext context;
static int output = STDOUT_FILENO;

static const struct driver_name names[] = {
    {"cuInit", "cuInit", 2000, 0},
    {"cuDeviceTotalMem", "cuDeviceTotalMem_v2", 3020, 0},
    {"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", 7000, 0},
    {"cuCtxSetCurrent", "cuCtxSetCurrent", 4000, 0},
    {"cuMemGetInfo", "cuMemGetInfo_v2", 3020, 0},
    {"cuMemAlloc", "cuMemAlloc_v2", 3020, 0},
    {"cuMemAllocPitch", "cuMemAllocPitch_v2", 3020, 0},
    {"cuArrayCreate", "cuArrayCreate_v2", 3020, 0},
    {"cuArray3DCreate", "cuArray3DCreate_v2", 3020, 0},
    {"cuMipmappedArrayCreate", "cuMipmappedArrayCreate", 5000, 0},
    {"cuMemAllocAsync", "cuMemAllocAsync", 11020, 1},
    {"cuMemPoolCreate", "cuMemPoolCreate", 11020, 0},
    {"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync", 11020, 1},
    {"cuMemCreate", "cuMemCreate", 10020, 0},
    {"cuGraphCreate", "cuGraphCreate", 10000, 0},
    {"cuGraphAddMemAllocNode", "cuGraphAddMemAllocNode", 11040, 0},
    {"cuGraphInstantiateWithFlags", "cuGraphInstantiateWithFlags", 11040, 0},
    {"cuGraphLaunch", "cuGraphLaunch", 10000, 1},
    {"cuMemAllocManaged", "cuMemAllocManaged", 6000, 0},
    {"cuMemFree", "cuMemFree_v2", 3020, 0},
};
enum { kNames = sizeof names / sizeof *names };

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

int take_one(size_t bytes) {
    CUdeviceptr address = 0;
    return (int)driver.alloc(&address, bytes);
}

int take_and_free_one(size_t bytes) {
    CUdeviceptr address = 0;
    const CUresult result = driver.alloc(&address, bytes);
    return (int)(result != CUDA_SUCCESS ? result : driver.free(address));
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
