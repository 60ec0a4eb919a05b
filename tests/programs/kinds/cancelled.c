/* A program that cancels a thread while it takes memory: the others go on. */
#define _GNU_SOURCE
#include <pthread.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kPart = 64 << 20, kThreads = 4 };

static int code;

static void* take_while_cancelled(void* unused) {
    join_context();
    pthread_cancel(pthread_self()); /* from here on, the first call that may be cancelled is */
    code = take_one(kPart);
    pthread_testcancel();
    return unused;
}

int main(void) {
    pthread_t thread;
    expect_end();
    find_driver(linked_function);
    begin(0);
    for (int i = 0; i < kThreads; ++i) {
        if (pthread_create(&thread, NULL, take_while_cancelled, NULL) != 0) fail("pthread_create", -1);
        void* result = NULL;
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED || code != 0) fail("a cancelled thread", code);
        print_number("taken", kPart);
    }
    take_all();
    hold();
    return 0;
}
