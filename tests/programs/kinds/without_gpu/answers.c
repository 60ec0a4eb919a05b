/* answers LIBRARY NAMES INIT: calls each function of the list NAMES that the library has, before and after a
 * call of the library's function INIT, which fails without a GPU: once with nothing but zeros as arguments,
 * and once with addresses of zeroed memory. Prints a line `NAME WHEN ARGUMENTS: ANSWER` for each call, where
 * ANSWER is the code that it returned, or how it ended the process: the same lines with a front before the
 * library as without one. The calls are made by a child, and when one of them ends it, by another from the
 * next function on; what initialises comes last, since calls after it are others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/kinds/errand/errand.h"

enum { kMost = 2048, kName = 96, kArguments = 12, kRoom = 1 << 16, kSecondsForOne = 10 };

/* The same in every process: parts of an address may be taken for numbers, which decide about the answer. */
static char* const kRooms = (char*)0x10000000;

typedef const void* (*any_call)(long, long, long, long, long, long, long, long, long, long, long, long);
typedef int (*init_call)(unsigned);

struct function {
    char name[kName];
    any_call call;
};

/* Shared with the child. */
struct progress {
    int next; /* index of the function that is being called */
    int answers[kMost];
};

static struct function functions[kMost];
static int count;
static struct progress* progress;

static int answer_of(const struct function* function, int with_rooms) {
    long a[kArguments] = {0};
    if (with_rooms) {
        memset(kRooms, 0, (size_t)kArguments * kRoom);
        for (int i = 0; i < kArguments; ++i) a[i] = (long)(kRooms + (long)i * kRoom);
    }
    const void* answer =
        function->call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    /* The only one that returns something else: a text. */
    if (strcmp(function->name, "nvmlErrorString") == 0) return (int)strlen(answer);
    return (int)(intptr_t)answer;
}

static void call_all_from(int first, init_call init, int with_rooms) {
    if (init != NULL) init(0);
    for (int i = first; i < count; ++i) {
        progress->next = i;
        alarm(kSecondsForOne);
        progress->answers[i] = answer_of(&functions[i], with_rooms);
    }
    progress->next = count;
    _exit(0);
}

static void ask_all(init_call init, int with_rooms) {
    for (int first = 0; first < count; first = progress->next + 1) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        if (child < 0) fail("fork", -1);
        if (child == 0) call_all_from(first, init, with_rooms);
        if (waitpid(child, &status, 0) != child) fail("waitpid", -1);
        const char* when = init != NULL ? "after" : "before";
        const char* arguments = with_rooms ? "rooms" : "zeros";
        for (int i = first; i < progress->next; ++i)
            printf("%s %s %s: %d\n", functions[i].name, when, arguments, progress->answers[i]);
        if (progress->next == count) return;
        printf("%s %s %s: %s %d\n", functions[progress->next].name, when, arguments,
               WIFSIGNALED(status) ? "signal" : "exit",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

static int initialises(const char* name) {
    return strncmp(name, "cuInit", strlen("cuInit")) == 0 ||
           strncmp(name, "nvmlInit", strlen("nvmlInit")) == 0;
}

static void find_functions(void* library, const char* list, int that_initialise) {
    FILE* names = fopen(list, "r");
    if (names == NULL) fail(list, -1);
    while (count < kMost && fscanf(names, "%90s", functions[count].name) == 1) {
        if (initialises(functions[count].name) != that_initialise) continue;
        *(void**)&functions[count].call = dlsym(library, functions[count].name);
        if (functions[count].call != NULL) ++count;
    }
    fclose(names);
}

static void* memory(void* at, size_t bytes, int flags) {
    void* mapped = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    if (mapped == MAP_FAILED) fail("mmap", -1);
    return mapped;
}

int main(int argc, char** argv) {
    const struct rlimit no_core = {0, 0};
    init_call init = NULL;
    if (argc < 4) return 2;
    setrlimit(RLIMIT_CORE, &no_core);
    memory(kRooms, (size_t)kArguments * kRoom, MAP_PRIVATE | MAP_FIXED_NOREPLACE);
    progress = memory(NULL, sizeof *progress, MAP_SHARED);
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) fail(dlerror(), -1);
    *(void**)&init = dlsym(library, argv[3]);
    if (init == NULL) fail(argv[3], -1);
    find_functions(library, argv[2], 0);
    find_functions(library, argv[2], 1);
    for (int with_rooms = 0; with_rooms <= 1; ++with_rooms) {
        ask_all(NULL, with_rooms);
        ask_all(init, with_rooms);
    }
    return 0;
}
