/* situations fork|reopen|namespaces|threads [FACTS]: what the driver and NVML answer in that situation,
 * without a GPU: the same lines with a front before them as without one, but for the last line of two of
 * them: `namespaces N`, how many with the driver in them there was room for, and `loaded N N`, whether the
 * libraries are, once they are closed. FACTS is module/generate/cuda_api.tsv. */
#include "tests/programs/kinds/without_gpu/codes.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/lookup_names.h"

enum { kThreads = 16, kRounds = 3, kNamespacesCompared = 4 };

static void* open_library(const char* name) {
    void* library = dlopen(name, RTLD_NOW);
    if (library == NULL) fail(dlerror(), -1);
    return library;
}

struct libraries {
    void* cuda;
    void* nvml;
};

static struct libraries open_both(void) {
    const struct libraries both = {open_library("libcuda.so.1"), open_library("libnvidia-ml.so.1")};
    return both;
}

static void print_codes(const char* where, const struct libraries* both) {
    const struct codes_of driver = driver_of(both->cuda);
    print_driver_codes(where, &driver);
    print_nvml_codes(where, both->nvml);
}

/* A child that asks the libraries, or opens them first, and ends. */
static void ask_in_child(const char* where, const struct libraries* opened, int generations) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const struct libraries both = opened != NULL ? *opened : open_both();
        print_codes(where, &both);
        if (generations > 1) ask_in_child("grandchild", &both, generations - 1);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) fail("fork", -1);
    printf("%s: ended with %d\n", where, status);
    fflush(stdout);
}

static void fork_children(void) {
    const struct libraries both = open_both();
    ask_in_child("child before any call", &both, 2);
    print_codes("parent", &both);
    ask_in_child("child", &both, 2);
    print_codes("parent again", &both);
}

static int is_loaded(const char* name) {
    void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    return library != NULL && dlclose(library) == 0;
}

static void reopen(void) {
    for (int i = 0; i < kRounds; ++i) {
        const struct libraries both = open_both();
        print_codes("opened", &both);
        printf("dlclose %d %d\n", dlclose(both.cuda), dlclose(both.nvml));
        ask_in_child("child after dlclose", NULL, 1);
    }
    printf("loaded %d %d\n", is_loaded("libcuda.so.1"), is_loaded("libnvidia-ml.so.1"));
}

static void fill_namespaces(void) {
    int count = 0;
    for (void* cuda = NULL; (cuda = dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW)) != NULL; ++count) {
        if (count >= kNamespacesCompared) continue;
        const struct codes_of driver = driver_of(cuda);
        print_driver_codes("namespace", &driver);
    }
    printf("namespaces %d\n", count);
}

struct thread {
    pthread_t id;
    int init;
    int count;
    unsigned long long found;
    unsigned long long answers;
};

static struct facts facts;
static pthread_barrier_t all_there;

static void* look_up_all(void* data) {
    static const int kVersions[] = {11000, 12000};
    struct thread* thread = data;
    int devices = -1;
    int (*ask)(const char*, void**, int, uint64_t) = NULL;
    pthread_barrier_wait(&all_there);
    void* cuda = open_library("libcuda.so.1");
    const struct codes_of driver = driver_of(cuda);
    *(void**)&ask = function_of(cuda, "cuGetProcAddress");
    thread->init = driver.init(0);
    thread->count = driver.count(&devices);
    for (int i = 0; i < facts.symbols.count; ++i)
        if (dlsym(cuda, facts.symbols.names[i]) != NULL) ++thread->found;
    for (int i = 0; i < facts.bases.count; ++i)
        for (int v = 0; v < 2; ++v) {
            void* function = NULL;
            thread->answers += (unsigned)ask(facts.bases.names[i], &function, kVersions[v], 0);
            if (function != NULL) ++thread->found;
        }
    return NULL;
}

static void start_threads(const char* path) {
    static struct names no_hooks;
    struct thread threads[kThreads];
    memset(threads, 0, sizeof threads);
    read_facts(path, &no_hooks, &facts);
    pthread_barrier_init(&all_there, NULL, kThreads);
    for (int i = 0; i < kThreads; ++i)
        if (pthread_create(&threads[i].id, NULL, look_up_all, &threads[i]) != 0) fail("pthread_create", -1);
    for (int i = 0; i < kThreads; ++i) {
        pthread_join(threads[i].id, NULL);
        printf("thread: cuInit %d, cuDeviceGetCount %d, found %llu, answers %llu\n", threads[i].init,
               threads[i].count, threads[i].found, threads[i].answers);
    }
}

int main(int argc, char** argv) {
    const char* situation = argc > 1 ? argv[1] : "";
    if (strcmp(situation, "fork") == 0)
        fork_children();
    else if (strcmp(situation, "reopen") == 0)
        reopen();
    else if (strcmp(situation, "namespaces") == 0)
        fill_namespaces();
    else if (strcmp(situation, "threads") == 0 && argc > 2)
        start_threads(argv[2]);
    else
        return 2;
    return 0;
}
