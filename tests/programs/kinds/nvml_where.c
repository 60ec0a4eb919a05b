/* nvml_where THREAD WHAT: a program that opens NVML itself, and looks its functions up.
 *   THREAD   main, worker, or gone: a worker that goes on when the main thread has ended
 *   WHAT     only: it asks NVML, and never CUDA
 *            first: CUDA afterwards, opened in the same way
 *            child: as `first`, in a child that is forked between the two */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/opened.h"
#include "tests/sim/include/simgpu/nvml.h"

static const char* what;
static pthread_t main_thread;

static void* nvml_function(const char* name) {
    static void* library;
    if (library == NULL) library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    void* found = library != NULL ? dlsym(library, name) : NULL;
    if (found == NULL) fail(name, -1);
    return found;
}

static nvmlMemory_t ask_nvml(void) {
    nvmlReturn_t (*init)(void) = NULL;
    nvmlReturn_t (*find)(unsigned, nvmlDevice_t*) = NULL;
    nvmlReturn_t (*ask)(nvmlDevice_t, nvmlMemory_t*) = NULL;
    nvmlDevice_t device = NULL;
    nvmlMemory_t memory = {0, 0, 0};
    *(void**)&init = nvml_function("nvmlInit_v2");
    *(void**)&find = nvml_function("nvmlDeviceGetHandleByIndex_v2");
    *(void**)&ask = nvml_function("nvmlDeviceGetMemoryInfo");
    nvmlReturn_t result = init();
    if (result == NVML_SUCCESS) result = find(0, &device);
    if (result == NVML_SUCCESS) result = ask(device, &memory);
    if (result != NVML_SUCCESS) fail("NVML", result);
    print_number("nvml_total", memory.total);
    return memory;
}

static void use_cuda(void) {
    open_driver("libcuda.so.1", "local");
    find_driver(opened_function);
    begin(0);
    const size_t taken = take_all();
    const nvmlMemory_t memory = ask_nvml();
    if (memory.used < taken || memory.used > memory.total) fail("used", (long)memory.used);
    hold();
}

static void in_child(void) {
    sigset_t set;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        use_cuda();
        exit(0);
    }
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    while (sigwaitinfo(&set, NULL) != SIGTERM) continue;
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    if (status != 0) exit(1);
}

static void* work(void* is_last) {
    if (is_last != NULL) {
        pthread_join(main_thread, NULL);
        while (access("/proc/self/fd/1", F_OK) == 0) sched_yield();
    }
    if (ask_nvml().used != 0) fail("used before CUDA", 1);
    if (strcmp(what, "only") == 0) hold();
    if (strcmp(what, "first") == 0) use_cuda();
    if (strcmp(what, "child") == 0) in_child();
    exit(0);
}

int main(int argc, char** argv) {
    pthread_t worker;
    if (argc < 3) return 2;
    what = argv[2];
    main_thread = pthread_self();
    expect_end();
    if (strcmp(argv[1], "main") == 0) work(NULL);
    const int is_last = strcmp(argv[1], "gone") == 0;
    if (pthread_create(&worker, NULL, work, is_last ? &main_thread : NULL) != 0) return 2;
    if (is_last) pthread_exit(NULL);
    pthread_join(worker, NULL);
    return 0;
}
