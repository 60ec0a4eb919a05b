/* forking_first cuda|nvml: a program that forks in one thread while another one makes its first call of the
 * driver, or of NVML: again and again, each time in a new process and a little later. What the child gets
 * depends on the moment, as it does without cgpu: CUDA, or CUDA_ERROR_NOT_INITIALIZED; it never hangs or
 * crashes. Then the errand, to see that the limit holds. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kNotInitialised = 3, kRounds = 120, kSeconds = 8, kStep = 40000 /* ns */ };

static int asks_nvml;
static int (*nvml_init)(void);
static pthread_barrier_t together;

static void* first_call(void* unused) {
    pthread_barrier_wait(&together);
    if ((asks_nvml ? nvml_init() : initialise()) != 0) _exit(30);
    return unused;
}

/* 0: all is as it may be. */
static int child(void) {
    alarm(kSeconds);
    if (asks_nvml && nvml_init() != 0) return 40;
    const int init = initialise();
    if (init != 0 && init != kNotInitialised) return 41;
    if (init == 0 && ask_total(0) != 0) return 42;
    return 0;
}

static int one_round(int number) {
    pthread_t thread;
    int status = 0;
    const struct timespec delay = {0, (long)number * kStep};
    alarm(2 * kSeconds); /* a process that hangs dies of it */
    pthread_barrier_init(&together, NULL, 2);
    if (pthread_create(&thread, NULL, first_call, NULL) != 0) return 20;
    pthread_barrier_wait(&together);
    nanosleep(&delay, NULL);
    const pid_t forked = fork();
    if (forked == 0) _exit(child());
    waitpid(forked, &status, 0);
    if (status != 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    pthread_join(thread, NULL);
    return 0;
}

int main(int argc, char** argv) {
    asks_nvml = argc > 1 && strcmp(argv[1], "nvml") == 0;
    expect_end();
    find_driver(linked_function);
    *(void**)&nvml_init = dlsym(dlopen("libnvidia-ml.so.1", RTLD_NOW), "nvmlInit_v2");
    if (nvml_init == NULL) fail("nvmlInit_v2", -1);
    for (int i = 0; i < kRounds; ++i) {
        int status = 0;
        const pid_t forked = fork();
        if (forked == 0) _exit(one_round(i));
        waitpid(forked, &status, 0);
        if (status != 0)
            fail("a round, status", WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
    }
    begin(0);
    take_all();
    hold();
    return 0;
}
