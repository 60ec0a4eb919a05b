/* A user's own LD_PRELOAD that replaces dlsym. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

void* dlsym(void* restrict library, const char* restrict name) {
    static void* (*real)(void*, const char*);
    if (real == NULL) *(void**)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return real(library, name);
}
