/* lookups FACTS HOOKS [EXPORTS]: in a job, asks the driver that programs meet and the real one behind it for
 * every function of module/generate/cuda_api.tsv (FACTS) and of a list of the driver's exports, by base name
 * and by symbol: by dlsym, dlvsym and both forms of cuGetProcAddress, with flags 0 to 4, as of every version
 * that brought a form of any function and of impossible ones; before and after cuInit. Codes, states and what
 * becomes of the pointer must be alike. Where the real driver answers with a function of
 * module/front/hooks/hooks.txt (HOOKS), the program must be given the front's of the same name, else the real
 * one. Prints `init CODE`, `lookups N`, `substituted N` and `wrong N`, and a line for some of the wrong ones.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#include "tests/programs/kinds/loading/lookup_names.h"
#include "tests/programs/support/behind.h"

enum { kFlags = 5, kShown = 40, kNotFound = 500, kSymbolNotFound = 1, kUnset = -77 };

typedef int (*asker)(const char*, void**, int, uint64_t);
typedef int (*asker_v2)(const char*, void**, int, uint64_t, int*);

struct side {
    void* library;
    asker ask;
    asker_v2 ask_v2; /* older drivers have none */
};

/* Of one look-up, on one side. */
struct answer {
    int code;
    int status;
    void* function; /* &untouched: the pointer was left alone */
};

struct place {
    void* address;
    const char* symbol;
};

static struct facts facts;
static struct names hooks;
static struct names exports; /* all that the driver may export */
static struct names asked;   /* by cuGetProcAddress */
static struct versions versions;
static struct place places[kMost]; /* of the functions that are known, by the real driver's address */
static int place_count;
static int untouched;
static unsigned long long looked_up;
static unsigned long long substituted;
static unsigned long long wrong;

static struct side side_of(void* library, const char* what) {
    struct side side = {library, NULL, NULL};
    if (side.library == NULL) fail(what, -1);
    *(void**)&side.ask = dlsym(side.library, "cuGetProcAddress");
    *(void**)&side.ask_v2 = dlsym(side.library, "cuGetProcAddress_v2");
    return side;
}

static int by_address(const void* left, const void* right) {
    const uintptr_t one = (uintptr_t)((const struct place*)left)->address;
    const uintptr_t other = (uintptr_t)((const struct place*)right)->address;
    return one < other ? -1 : one > other;
}

static void find_places(const struct side* real) {
    for (int i = 0; i < facts.symbols.count; ++i) {
        const char* symbol = facts.symbols.names[i];
        void* address = dlsym(real->library, symbol);
        if (address != NULL) places[place_count++] = (struct place){address, symbol};
    }
    qsort(places, (size_t)place_count, sizeof *places, by_address);
}

/* Which of the known functions it is; NULL: none of them. */
static const char* symbol_at(void* address) {
    const struct place wanted = {address, NULL};
    const struct place* found = bsearch(&wanted, places, (size_t)place_count, sizeof *places, by_address);
    return found != NULL ? found->symbol : NULL;
}

static const char* text_of(void* function) {
    Dl_info info = {NULL, NULL, NULL, NULL};
    if (function == NULL) return "null";
    if (function == &untouched) return "untouched";
    return dladdr(function, &info) != 0 && info.dli_sname != NULL ? info.dli_sname : "an unknown function";
}

static void show_wrong(const char* how, const char* name, int version, uint64_t flags) {
    if (++wrong <= kShown) printf("wrong: %s %s, version %d, flags %d: ", how, name, version, (int)flags);
}

/* What the program must get for the real driver's answer. */
static struct answer expected(const struct side* seen, const char* name, int form, struct answer real) {
    if (real.function == NULL || real.function == &untouched) return real;
    const char* symbol = symbol_at(real.function);
    if (symbol != NULL && has(&hooks, symbol))
        real.function = dlsym(seen->library, symbol);
    else if (symbol == NULL && has(&facts.hooked_bases, name)) /* a form that is unknown to the front */
        return form == 2 ? (struct answer){0, kSymbolNotFound, NULL}
                         : (struct answer){kNotFound, kUnset, &untouched};
    return real;
}

static struct answer ask(const struct side* side, int form, const char* name, int version, uint64_t flags) {
    struct answer answer = {0, kUnset, &untouched};
    answer.code = form == 2 ? side->ask_v2(name, &answer.function, version, flags, &answer.status)
                            : side->ask(name, &answer.function, version, flags);
    return answer;
}

static void compare(const struct side* seen, const struct side* real, int form, const char* name, int version,
                    uint64_t flags) {
    const struct answer bare = ask(real, form, name, version, flags);
    const struct answer got = ask(seen, form, name, version, flags);
    const struct answer want = expected(seen, name, form, bare);
    ++looked_up;
    if (got.function != bare.function) ++substituted;
    if (got.code == want.code && got.status == want.status && got.function == want.function) return;
    show_wrong(form == 2 ? "v2" : "v1", name, version, flags);
    if (wrong > kShown) return;
    printf("code %d, status %d, %s; the driver's own: code %d, status %d, %s\n", got.code, got.status,
           text_of(got.function), bare.code, bare.status, text_of(bare.function));
}

/* All that the driver exports is the front's; what has no hook leads to the driver from there. */
static void compare_exports(const struct side* seen, const struct side* real) {
    static const char* const kVersions[] = {NULL, "libcuda.so.1", "GLIBC_2.2.5"};
    for (int i = 0; i < exports.count; ++i)
        for (int v = 0; v < 3; ++v) {
            const char* name = exports.names[i];
            void* bare = v == 0 ? dlsym(real->library, name) : dlvsym(real->library, name, kVersions[v]);
            void* got = v == 0 ? dlsym(seen->library, name) : dlvsym(seen->library, name, kVersions[v]);
            ++looked_up;
            if (got != bare) ++substituted;
            if ((got == NULL) == (bare == NULL) && (got == NULL || got != bare)) continue;
            show_wrong(v == 0 ? "dlsym" : "dlvsym", name, 0, 0);
            if (wrong <= kShown) printf("%s; the driver's own: %s\n", text_of(got), text_of(bare));
        }
}

static void compare_all(const struct side* seen, const struct side* real) {
    compare_exports(seen, real);
    for (int i = 0; i < asked.count; ++i)
        for (int v = 0; v < versions.count; ++v)
            for (uint64_t flags = 0; flags < kFlags; ++flags)
                for (int form = 1; form <= 2; ++form)
                    if (form == 1 ? real->ask != NULL : real->ask_v2 != NULL)
                        compare(seen, real, form, asked.names[i], versions.versions[v], flags);
}

int main(int argc, char** argv) {
    static const int kOddVersions[] = {-1, INT_MIN, INT_MAX, 0, 1, 999, 6050, kFuture};
    if (argc < 3) return 2;
    read_names(argv[2], &hooks);
    read_facts(argv[1], &hooks, &facts);
    versions = facts.versions;
    for (size_t i = 0; i < sizeof kOddVersions / sizeof *kOddVersions; ++i)
        add_version(&versions, kOddVersions[i]);
    exports = facts.symbols;
    if (argc > 3) read_names(argv[3], &exports);
    asked = facts.bases;
    for (int i = 0; i < exports.count; ++i) add(&asked, exports.names[i]);
    add(&asked, "cuNoSuchFunction");
    add(&asked, "");
    const struct side seen = side_of(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "libcuda.so.1");
    const struct side real = side_of(open_behind(), "the driver behind it");
    find_places(&real);
    compare_all(&seen, &real);
    fflush(stdout); /* print_number doesn't go through it */
    int (*init)(unsigned) = NULL;
    *(void**)&init = dlsym(seen.library, "cuInit");
    print_number("init", (unsigned long long)init(0));
    compare_all(&seen, &real);
    fflush(stdout);
    print_number("lookups", looked_up);
    print_number("substituted", substituted);
    print_number("wrong", wrong);
    return wrong == 0 ? 0 : 1;
}
