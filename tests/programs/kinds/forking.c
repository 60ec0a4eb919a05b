/* A program that forks again and again while other threads take and free memory: its children end at once,
 * and to none of them CUDA is initialised. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kNotInitialised = 3, kThreads = 3, kChildren = 100, kPart = 32 << 20, kSeconds = 5 };

static atomic_int stop;

static void* take_and_free(void* unused) {
    join_context();
    while (!stop)
        if (take_and_free_one(kPart) != 0) fail("cuMemAlloc or cuMemFree", -1);
    return unused;
}

static int child(void) {
    alarm(kSeconds); /* a child that hangs dies of it */
    return initialise() == kNotInitialised && take_one(kPart) == kNotInitialised ? 0 : 1;
}

int main(void) {
    pthread_t threads[kThreads];
    expect_end();
    find_driver(linked_function);
    begin(0);
    for (int i = 0; i < kThreads; ++i)
        if (pthread_create(&threads[i], NULL, take_and_free, NULL) != 0) fail("pthread_create", -1);
    for (int i = 0; i < kChildren; ++i) {
        const pid_t forked = fork();
        if (forked == 0) _exit(child());
        int status = 0;
        waitpid(forked, &status, 0);
        if (status != 0) fail("a child's status", status);
    }
    stop = 1;
    for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
    take_all();
    hold();
    return 0;
}
