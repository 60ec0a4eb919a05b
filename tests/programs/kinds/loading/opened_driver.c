#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/programs/kinds/loading/opened.h"

static void* library;
static int per_thread;

void open_driver(const char* path, const char* how) {
    if (strcmp(how, "namespace") == 0) {
        library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    } else {
        int flags = RTLD_NOW;
        if (strcmp(how, "global") == 0) flags |= RTLD_GLOBAL;
        if (strcmp(how, "deepbind") == 0) flags |= RTLD_DEEPBIND;
        library = dlopen(path, flags);
    }
    if (library == NULL) {
        print("error", dlerror());
        fail("dlopen", -1);
    }
}

void use_per_thread_variants(void) { per_thread = 1; }

any_function opened_function(const struct driver_name* name) {
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%s", name->symbol, per_thread && name->takes_stream ? "_ptsz" : "");
    any_function found = NULL;
    *(void**)&found = dlsym(library, symbol);
    return found;
}
