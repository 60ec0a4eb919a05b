/* The main thread has ended when another one makes the first call: /proc/self/fd is empty then. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/linked.h"

static void* work(void* main_thread) {
    pthread_join(*(pthread_t*)main_thread, NULL);
    while (access("/proc/self/fd/1", F_OK) == 0) sched_yield();
    expect_end();
    find_driver(linked_function);
    begin(0);
    take_all();
    hold();
    exit(0);
}

int main(void) {
    static pthread_t main_thread;
    pthread_t worker;
    main_thread = pthread_self();
    if (pthread_create(&worker, NULL, work, &main_thread) != 0) return 2;
    pthread_exit(NULL);
}
