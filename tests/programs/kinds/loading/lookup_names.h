/* What lookups.c asks for: names and versions, from module/generate/cuda_api.tsv,
 * module/front/hooks/hooks.txt and a list of a driver's exports. */
#pragma once

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programs/kinds/errand/errand.h"

enum { kMost = 2048, kName = 96, kFuture = 99000 };

struct names {
    char names[kMost][kName];
    int count;
};

struct versions {
    int versions[kMost];
    int count;
};

static inline int has(const struct names* set, const char* name) {
    for (int i = 0; i < set->count; ++i)
        if (strcmp(set->names[i], name) == 0) return 1;
    return 0;
}

static inline void add(struct names* set, const char* name) {
    if (has(set, name)) return;
    if (set->count == kMost) fail("more names than there is room for", kMost);
    snprintf(set->names[set->count++], kName, "%s", name);
}

static inline void add_version(struct versions* set, int version) {
    for (int i = 0; i < set->count; ++i)
        if (set->versions[i] == version) return;
    if (set->count == kMost) fail("more versions than there is room for", kMost);
    set->versions[set->count++] = version;
}

/* The first word of each line that names a function. */
static inline void read_names(const char* path, struct names* names) {
    char line[256];
    char name[kName];
    FILE* file = fopen(path, "r");
    if (file == NULL) fail(path, -1);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%90s", name) == 1 && strncmp(name, "cu", 2) == 0) add(names, name);
    fclose(file);
}

/* What is known of the driver's functions. */
struct facts {
    struct names symbols;
    struct names bases;        /* what cuGetProcAddress is asked for */
    struct names hooked_bases; /* of at least one hook */
    struct versions versions;  /* that brought a form of any function */
};

static inline void read_facts(const char* path, const struct names* hooks, struct facts* facts) {
    char line[256];
    char symbol[kName];
    char base[kName];
    int version = 0;
    FILE* file = fopen(path, "r");
    if (file == NULL) fail(path, -1);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%90s %90s %d", symbol, base, &version) != 3 || strncmp(symbol, "cu", 2) != 0)
            continue;
        add(&facts->symbols, symbol);
        add(&facts->bases, base);
        if (has(hooks, symbol)) add(&facts->hooked_bases, base);
        add_version(&facts->versions, version);
    }
    fclose(file);
}
