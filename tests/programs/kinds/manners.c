/* A program that sees whether using CUDA changed anything of its own. Prints to descriptor 9, so that a test
 * sees what else was printed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kPrintTo = 9, kSignals = 65, kVariables = 256, kTimers = 3, kStandard = 3 };

/* Of struct sigaction, what the kernel fills in. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    unsigned long mask;
};

/* Everything that a process has one of, and a library might change. Compared as bytes. */
struct manners {
    struct action actions[kSignals];
    sigset_t mask;
    void* stack;
    size_t stack_bytes;
    int stack_flags;
    mode_t umask;
    char** environ;
    char* variables[kVariables];
    size_t variable_bytes;
    char folder[256];
    char locale[64];
    char thread_name[16];
    dev_t devices[kStandard];
    ino_t inodes[kStandard];
    struct itimerval timers[kTimers];
    struct rlimit limits[RLIM_NLIMITS];
    int rounding;
    int priority;
    int dumpable;
    int subreaper;
    int death_signal;
};

static void look(struct manners* seen) {
    memset(seen, 0, sizeof *seen);
    for (int s = 1; s < kSignals; ++s) {
        struct sigaction action;
        if (sigaction(s, NULL, &action) != 0) continue; /* libc keeps two for itself */
        seen->actions[s].handler = action.sa_handler;
        seen->actions[s].flags = (unsigned long)action.sa_flags;
        memcpy(&seen->actions[s].mask, &action.sa_mask, sizeof seen->actions[s].mask);
    }
    sigprocmask(SIG_SETMASK, NULL, &seen->mask);
    stack_t stack;
    sigaltstack(NULL, &stack);
    seen->stack = stack.ss_sp;
    seen->stack_bytes = stack.ss_size;
    seen->stack_flags = stack.ss_flags;
    seen->umask = umask(0);
    umask(seen->umask);
    seen->environ = environ;
    for (int i = 0; environ[i] != NULL && i < kVariables; ++i) {
        seen->variables[i] = environ[i];
        seen->variable_bytes += strlen(environ[i]);
    }
    if (getcwd(seen->folder, sizeof seen->folder) == NULL) fail("getcwd", errno);
    strncpy(seen->locale, setlocale(LC_ALL, NULL), sizeof seen->locale - 1);
    prctl(PR_GET_NAME, seen->thread_name);
    for (int fd = 0; fd < kStandard; ++fd) {
        struct stat status;
        if (fstat(fd, &status) != 0) continue;
        seen->devices[fd] = status.st_dev;
        seen->inodes[fd] = status.st_ino;
    }
    for (int timer = 0; timer < kTimers; ++timer) getitimer((__itimer_which_t)timer, &seen->timers[timer]);
    for (int limit = 0; limit < RLIM_NLIMITS; ++limit)
        getrlimit((__rlimit_resource_t)limit, &seen->limits[limit]);
    seen->rounding = fegetround();
    seen->priority = getpriority(PRIO_PROCESS, 0);
    seen->dumpable = prctl(PR_GET_DUMPABLE);
    prctl(PR_GET_CHILD_SUBREAPER, &seen->subreaper);
    prctl(PR_GET_PDEATHSIG, &seen->death_signal);
}

static void compare(const struct manners* before, const struct manners* after) {
#define SAME(member) \
    if (memcmp(&before->member, &after->member, sizeof before->member) != 0) fail("changed: " #member, 1)
    for (int s = 1; s < kSignals; ++s)
        if (memcmp(&before->actions[s], &after->actions[s], sizeof before->actions[s]) != 0)
            fail("changed: the action of a signal", s);
    SAME(mask);
    SAME(stack);
    SAME(stack_bytes);
    SAME(stack_flags);
    SAME(umask);
    SAME(environ);
    SAME(variables);
    SAME(variable_bytes);
    SAME(folder);
    SAME(locale);
    SAME(thread_name);
    SAME(devices);
    SAME(inodes);
    SAME(timers);
    SAME(limits);
    SAME(rounding);
    SAME(priority);
    SAME(dumpable);
    SAME(subreaper);
    SAME(death_signal);
#undef SAME
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) fail("there is a child", 1);
}

/* A thread that is not the program's own takes none of its signals. */
static void look_at_threads(void) {
    char path[300];
    char line[128];
    unsigned long long blocked = 0;
    DIR* tasks = opendir("/proc/self/task");
    if (tasks == NULL) fail("/proc/self/task", errno);
    for (struct dirent* task = readdir(tasks); task != NULL; task = readdir(tasks)) {
        if (task->d_name[0] == '.' || atoi(task->d_name) == getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE* status = fopen(path, "r");
        while (status != NULL && fgets(line, sizeof line, status) != NULL)
            if (sscanf(line, "SigBlk: %llx", &blocked) == 1 && (blocked & (1ULL << (SIGUSR1 - 1))) == 0)
                fail("a thread takes signals", atoi(task->d_name));
        if (status != NULL) fclose(status);
    }
    closedir(tasks);
}

int main(void) {
    static struct manners before;
    static struct manners after;
    static char stack[1 << 16];
    const stack_t own_stack = {stack, 0, sizeof stack};
    print_to(kPrintTo);
    signal(SIGPIPE, SIG_IGN);
    sigaltstack(&own_stack, NULL);
    umask(027);
    fesetround(FE_UPWARD);
    expect_end();
    look(&before);
    find_driver(linked_function);
    begin(0);
    take_all();
    look(&after);
    compare(&before, &after);
    look_at_threads();
    hold();
    return 0;
}
