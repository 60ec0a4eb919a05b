/* A program that goes on when the driver fails: at each SIGUSR1 it initialises CUDA, and takes 128 MiB where
 * it could. Prints `init CODE`, `total CODE` (of asking for it), `alloc CODE` and `done`. */
#include <signal.h>

#include "tests/programs/kinds/loading/linked.h"

enum { kPart = 128 << 20 };

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    find_driver(linked_function);
    print("ready", "");
    int begun = 0;
    while (sigwaitinfo(&set, NULL) != SIGTERM) {
        const int code = initialise();
        print_number("init", (unsigned long long)code);
        print_number("total", (unsigned long long)ask_total(0));
        if (code == 0 && !begun) {
            begin(0);
            begun = 1;
        }
        if (begun) print_number("alloc", (unsigned long long)take_one(kPart));
        print("done", "");
    }
    return 0;
}
