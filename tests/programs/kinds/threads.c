/* threads COUNT: that many threads take at the same time, on small stacks, and end holding what they took. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kMost = 16, kStack = 64 << 10 };

static void* take(void* unused) {
    join_context();
    take_all();
    return unused;
}

int main(int argc, char** argv) {
    const int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[kMost];
    pthread_attr_t small;
    if (count > kMost || pthread_attr_init(&small) != 0 || pthread_attr_setstacksize(&small, kStack) != 0)
        return 2;
    expect_end();
    find_driver(linked_function);
    begin(0);
    for (int i = 0; i < count; ++i)
        if (pthread_create(&threads[i], &small, take, NULL) != 0) fail("pthread_create", -1);
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
    hold();
    return 0;
}
