/* lookups FACTS HOOKS: in a job, asks the driver that programs meet and the real one for every function of
 * module/generate/cuda_api.tsv (FACTS), in both forms of cuGetProcAddress, with all flags, as of every
 * version that brought a form of any function and of one that is yet to come, and by dlsym. Both must say the
 * same; where the real driver has a function of module/front/hooks/hooks.txt (HOOKS), the program's must be
 * the front's, else the real one. Prints `lookups N`, `substituted N` and `wrong N`, and a line for each
 * wrong one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/programs/kinds/errand/errand.h"
#include "tests/programs/support/behind.h"

enum { kMost = 1024, kName = 96, kFuture = 99000 };

typedef int (*asker)(const char*, void**, int, uint64_t);
typedef int (*asker_v2)(const char*, void**, int, uint64_t, int*);

struct names {
    char names[kMost][kName];
    int count;
};

struct side {
    void* library;
    asker ask;
    asker_v2 ask_v2;
};

static struct names symbols;
static struct names bases;
static struct names hooks;
static int versions[kMost];
static int version_count;
static unsigned long long looked_up;
static unsigned long long substituted;
static unsigned long long wrong;

static int has(const struct names* set, const char* name) {
    for (int i = 0; i < set->count; ++i)
        if (strcmp(set->names[i], name) == 0) return 1;
    return 0;
}

static void add(struct names* set, const char* name) {
    if (set->count < kMost && !has(set, name)) snprintf(set->names[set->count++], kName, "%s", name);
}

static void add_version(int version) {
    for (int i = 0; i < version_count; ++i)
        if (versions[i] == version) return;
    versions[version_count++] = version;
}

static void read_facts(const char* path) {
    char line[256];
    char symbol[kName];
    char base[kName];
    int version = 0;
    FILE* file = fopen(path, "r");
    if (file == NULL) fail(path, -1);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%90s %90s %d", symbol, base, &version) != 3 || strncmp(symbol, "cu", 2) != 0)
            continue;
        add(&symbols, symbol);
        add(&bases, base);
        add_version(version);
    }
    fclose(file);
}

static void read_hooks(const char* path) {
    char line[256];
    char name[kName];
    FILE* file = fopen(path, "r");
    if (file == NULL) fail(path, -1);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%90s", name) == 1 && strncmp(name, "cu", 2) == 0) add(&hooks, name);
    fclose(file);
}

static struct side side_of(void* library, const char* what) {
    struct side side = {library, NULL, NULL};
    if (side.library == NULL) fail(what, -1);
    *(void**)&side.ask = dlsym(side.library, "cuGetProcAddress");
    *(void**)&side.ask_v2 = dlsym(side.library, "cuGetProcAddress_v2");
    return side;
}

static const char* name_of(void* function, const char** file) {
    Dl_info info = {NULL, NULL, NULL, NULL};
    *file = dladdr(function, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "nowhere";
    return info.dli_sname != NULL ? info.dli_sname : "nothing";
}

/* `seen` is what the program got, `real` what the driver itself gives. */
static void judge(const char* how, const char* name, int version, uint64_t flags, void* seen, void* real) {
    const char* seen_file = "";
    const char* real_file = "";
    ++looked_up;
    if (seen == NULL && real == NULL) return;
    const char* seen_name = seen != NULL ? name_of(seen, &seen_file) : "none";
    const char* real_name = real != NULL ? name_of(real, &real_file) : "none";
    /* By dlsym all is the front's: what has no hook leads to the driver from there. */
    const int is_front = has(&hooks, real_name) || version == 0;
    if (seen != real) ++substituted;
    if (strcmp(seen_name, real_name) == 0 && is_front == (strcmp(seen_file, real_file) != 0)) return;
    ++wrong;
    printf("wrong: %s %s, version %d, flags %d: %s of %s, the driver's is %s of %s\n", how, name, version,
           (int)flags, seen_name, seen_file, real_name, real_file);
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    read_facts(argv[1]);
    read_hooks(argv[2]);
    add_version(kFuture);
    const struct side seen = side_of(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "libcuda.so.1");
    const struct side real = side_of(open_behind(), "the driver behind it");
    for (int i = 0; i < symbols.count; ++i) {
        const char* name = symbols.names[i];
        judge("dlsym", name, 0, 0, dlsym(seen.library, name), dlsym(real.library, name));
    }
    for (int i = 0; i < bases.count; ++i)
        for (int v = 0; v < version_count; ++v)
            for (uint64_t flags = 0; flags < 3; ++flags) {
                const char* name = bases.names[i];
                void* got[2] = {NULL, NULL};
                int status[2] = {0, 0};
                int code = seen.ask_v2(name, &got[0], versions[v], flags, &status[0]);
                if (code != real.ask_v2(name, &got[1], versions[v], flags, &status[1]) ||
                    status[0] != status[1])
                    fail(name, code);
                judge("v2", name, versions[v], flags, got[0], got[1]);
                got[0] = got[1] = NULL;
                code = seen.ask(name, &got[0], versions[v], flags);
                if (code != real.ask(name, &got[1], versions[v], flags)) fail(name, code);
                judge("v1", name, versions[v], flags, got[0], got[1]);
            }
    print_number("lookups", looked_up);
    print_number("substituted", substituted);
    print_number("wrong", wrong);
    return wrong == 0 ? 0 : 1;
}
