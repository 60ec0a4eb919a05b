/* forked WHEN: a program that has children.
 *   before   forks before it uses CUDA; the child does the errand
 *   after    forks with a context and memory in hand; the child has no CUDA; the parent goes on
 *   exec     takes a part, then starts a program that does the errand; both hold what they have
 *   daemon   forks twice, as daemons do, and ends; the grandchild does the errand */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kNotInitialised = 3, kPart = 256 << 20 };

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

static int child_exec(char* program) {
    begin(0);
    if (take_one(kPart) != 0) fail("cuMemAlloc", -1);
    print_number("taken", kPart);
    pid_t child = 0;
    char* arguments[] = {program, NULL};
    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0) fail("posix_spawn", -1);
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

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    expect_end();
    find_driver(linked_function);
    if (strcmp(argv[1], "before") == 0) return child_before();
    if (strcmp(argv[1], "after") == 0) return child_after();
    if (strcmp(argv[1], "exec") == 0 && argc > 2) return child_exec(argv[2]);
    if (strcmp(argv[1], "daemon") == 0) return child_of_child();
    return 2;
}
