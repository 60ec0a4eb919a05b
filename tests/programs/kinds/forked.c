/* forked [by-thread|by-last] WHEN: a program that has children. A worker makes them, or one that is the last.
 *   before   forks before it uses CUDA; the child does the errand
 *   after    forks with a context and memory in hand; the child has no CUDA; the parent goes on
 *   exec     takes a part, then starts a program that does the errand; both hold what they have
 *   vfork    the same by vfork and exec
 *   daemon   forks twice, as daemons do, and ends; the grandchild does the errand */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kNotInitialised = 3, kPart = 256 << 20, kSeconds = 10 };

static int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Gives the child SIGTERM when it comes here, and the child's status. */
static int end_together(pid_t child) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    while (sigwaitinfo(&set, NULL) != SIGTERM) continue;
    kill(child, SIGTERM);
    return status_of(child);
}

static int child_before(void) {
    const pid_t child = fork();
    if (child == 0) return do_errand(linked_function);
    return end_together(child);
}

static int child_after(void) {
    begin(0);
    if (take_one(kPart) != 0) fail("cuMemAlloc", -1);
    const pid_t child = fork();
    if (child == 0) {
        alarm(kSeconds); /* a child that hangs dies of it */
        const int of_init = initialise();
        const int of_alloc = take_one(1);
        if (of_init != kNotInitialised) fail("cuInit of the child", of_init);
        if (of_alloc != kNotInitialised) fail("cuMemAlloc of the child", of_alloc);
        return 0;
    }
    const int status = status_of(child);
    if (status != 0) return status;
    print_number("taken", kPart);
    take_all();
    hold();
    return 0;
}

static int child_exec(char* program, int by_vfork) {
    begin(0);
    if (take_one(kPart) != 0) fail("cuMemAlloc", -1);
    print_number("taken", kPart);
    pid_t child = 0;
    char* arguments[] = {program, NULL};
    if (by_vfork) {
        child = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): what is tried */
        if (child == 0) {
            execv(program, arguments);
            _exit(127);
        }
        if (child < 0) fail("vfork", -1);
    } else if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0) {
        fail("posix_spawn", -1);
    }
    return end_together(child);
}

static int child_of_child(void) {
    /* The job's end waits for it: the first process stays. */
    const pid_t child = fork();
    if (child != 0) return end_together(child);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setsid();
    const pid_t grandchild = fork();
    if (grandchild == 0) return do_errand(linked_function);
    return end_together(grandchild);
}

static int make_children(int count, char** words) {
    expect_end();
    find_driver(linked_function);
    const char* when = words[0];
    if (strcmp(when, "before") == 0) return child_before();
    if (strcmp(when, "after") == 0) return child_after();
    if (strcmp(when, "exec") == 0 && count > 1) return child_exec(words[1], 0);
    if (strcmp(when, "vfork") == 0 && count > 1) return child_exec(words[1], 1);
    if (strcmp(when, "daemon") == 0) return child_of_child();
    return 2;
}

struct words {
    int count;
    char** words;
    pthread_t main_thread;
    int is_last;
};

static void* work(void* data) {
    const struct words* words = data;
    if (words->is_last) {
        pthread_join(words->main_thread, NULL);
        while (access("/proc/self/fd/1", F_OK) == 0) sched_yield();
    }
    exit(make_children(words->count, words->words));
}

int main(int argc, char** argv) {
    static struct words words;
    pthread_t worker;
    const int is_last = argc > 2 && strcmp(argv[1], "by-last") == 0;
    if (argc < 2) return 2;
    if (!is_last && strcmp(argv[1], "by-thread") != 0) return make_children(argc - 1, argv + 1);
    if (argc < 3) return 2;
    expect_end();
    words = (struct words){argc - 2, argv + 2, pthread_self(), is_last};
    if (pthread_create(&worker, NULL, work, &words) != 0) return 2;
    if (is_last) pthread_exit(NULL);
    pthread_join(worker, NULL);
    return 2;
}
