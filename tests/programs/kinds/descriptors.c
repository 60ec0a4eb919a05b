/* descriptors WHAT: a program that is careless of its descriptors.
 *   middle   closes all but the first three once CUDA runs
 *   reused   the same, and opens others under half of the numbers, those that were closed among them
 *   none     has none at all when it starts CUDA: 0, 1 and 2 must still be free afterwards
 *   few      may have 20 only */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kMost = 1024, kFew = 20 };

static void close_from(int first) {
    for (int fd = first; fd < kMost; ++fd) close(fd);
}

static void limit_descriptors(rlim_t most) {
    const struct rlimit limit = {most, most};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit", -1);
}

/* Starts CUDA with nothing open, then opens what the program was given again, under the same number. */
static void begin_with_nothing(void) {
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD, kMost - 1);
    if (kept < 0) fail("fcntl", -1);
    print_to(kept);
    for (int fd = 0; fd < kMost - 1; ++fd) close(fd);
    begin(0);
    for (int fd = 0; fd < 3; ++fd)
        if (open("/dev/null", O_RDWR) != fd) fail("a descriptor below 3 is taken", fd);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    limit_descriptors(kMost);
    if (strcmp(what, "few") == 0) limit_descriptors(kFew);
    expect_end();
    find_driver(linked_function);
    if (strcmp(what, "none") == 0) {
        begin_with_nothing();
    } else {
        begin(0);
    }
    if (strcmp(what, "middle") == 0) close_from(3);
    if (strcmp(what, "reused") == 0) {
        close_from(3);
        while (open("/dev/zero", O_RDWR) < kMost / 2) continue;
    }
    take_all();
    hold();
    return 0;
}
