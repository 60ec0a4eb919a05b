/* The driver's library behind the module, found as a program can find it that means to: among what is loaded.
 */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* NOLINTBEGIN(modernize-use-nullptr): it is for C, too */
struct behind_search {
    char path[256];
    void* library;
};

static inline int look_behind(struct dl_phdr_info* object, size_t size, void* data) {
    struct behind_search* search = NULL;
    memcpy(&search, &data, sizeof data);
    (void)size;
    /* The module opens it by descriptor. */
    if (object->dlpi_name == NULL || strstr(object->dlpi_name, "/fd/") == NULL) return 0;
    snprintf(search->path, sizeof search->path, "%s", object->dlpi_name);
    search->library = dlopen(search->path, RTLD_NOW | RTLD_NOLOAD);
    if (search->library != NULL && dlsym(search->library, "cuInit") != NULL) return 1;
    search->library = NULL;
    return 0;
}

/* NULL: it isn't there. */
static inline void* open_behind(void) {
    struct behind_search search = {"", NULL};
    int version = 0;
    int (*any)(int*) = NULL;
    void* front = dlopen("libcuda.so.1", RTLD_NOW);
    if (front == NULL) return NULL;
    /* The first call loads it. */
    void* found = dlsym(front, "cuDriverGetVersion");
    memcpy(&any, &found, sizeof any);
    if (any == NULL || any(&version) != 0) return NULL;
    dl_iterate_phdr(look_behind, &search);
    return search.library;
}
/* NOLINTEND(modernize-use-nullptr) */
