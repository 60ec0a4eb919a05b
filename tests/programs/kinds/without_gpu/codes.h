/* The codes of some calls that need no GPU, as lines that are the same with a front before the library as
 * without one. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>

#include "tests/programs/kinds/errand/errand.h"

struct codes_of {
    int (*init)(unsigned);
    int (*count)(int*);
    int (*version)(int*);
    int (*current)(void**);
};

static inline void* function_of(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (found == NULL) fail(name, -1);
    return found;
}

static inline struct codes_of driver_of(void* library) {
    struct codes_of driver;
    *(void**)&driver.init = function_of(library, "cuInit");
    *(void**)&driver.count = function_of(library, "cuDeviceGetCount");
    *(void**)&driver.version = function_of(library, "cuDriverGetVersion");
    *(void**)&driver.current = function_of(library, "cuCtxGetCurrent");
    return driver;
}

/* Before cuInit, of it, and after it: a line `WHERE: CODES`. */
static inline void print_driver_codes(const char* where, const struct codes_of* driver) {
    int devices = -1;
    int version = 0;
    void* context = NULL;
    const int before = driver->count(&devices);
    const int current_before = driver->current(&context);
    const int init = driver->init(0);
    const int again = driver->init(0);
    const int count = driver->count(&devices);
    const int current = driver->current(&context);
    const int known = driver->version(&version);
    printf("%s: before cuInit %d %d, cuInit %d %d, cuDeviceGetCount %d, cuCtxGetCurrent %d\n", where, before,
           current_before, init, again, count, current);
    printf("%s: cuDriverGetVersion %d %d\n", where, known, version);
    fflush(stdout);
}

static inline void print_nvml_codes(const char* where, void* library) {
    int (*init)(void) = NULL;
    int (*count)(unsigned*) = NULL;
    unsigned devices = 0;
    *(void**)&init = function_of(library, "nvmlInit_v2");
    *(void**)&count = function_of(library, "nvmlDeviceGetCount_v2");
    const int before = count(&devices);
    const int code = init();
    printf("%s: before nvmlInit %d, nvmlInit %d, nvmlDeviceGetCount %d\n", where, before, code,
           count(&devices));
    fflush(stdout);
}
