/* asked 1|2 FLAGS [VERSION]: looks everything up by cuGetProcAddress of that version, with these flags (2:
 * per-thread default stream), each function as of the CUDA version that brought it, or all as of VERSION.
 * What it looks up with is itself looked up that way. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/programs/kinds/errand/errand.h"

static int (*ask)(const char*, void**, int, uint64_t);
static int (*ask_v2)(const char*, void**, int, uint64_t, int*);
static uint64_t flags;
static int version;

static any_function asked_function(const struct driver_name* name) {
    any_function found = NULL;
    int status = 0;
    const int wanted = version > 0 ? version : name->version;
    const int result = ask_v2 != NULL ? ask_v2(name->base, (void**)&found, wanted, flags, &status)
                                      : ask(name->base, (void**)&found, wanted, flags);
    return result == 0 && status == 0 ? found : NULL;
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) fail("dlopen", -1);
    flags = strtoull(argv[2], NULL, 0);
    version = argc > 3 ? atoi(argv[3]) : 0;
    if (argv[1][0] == '1') {
        *(void**)&ask = dlsym(library, "cuGetProcAddress");
        if (ask == NULL || ask("cuGetProcAddress", (void**)&ask, 11030, 0) != 0) fail("cuGetProcAddress", -1);
    } else {
        int status = 0;
        *(void**)&ask_v2 = dlsym(library, "cuGetProcAddress_v2");
        if (ask_v2 == NULL || ask_v2("cuGetProcAddress", (void**)&ask_v2, 12000, 0, &status) != 0)
            fail("cuGetProcAddress", -1);
    }
    return do_errand(asked_function);
}
