/* A program whose calls are interrupted by a signal a thousand times a second. */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "tests/programs/kinds/loading/linked.h"

static void ignore(int signal) { (void)signal; }

int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action); /* no SA_RESTART */
    action.sa_handler = ignore;
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &often, NULL) != 0) return 2;
    return do_errand(linked_function);
}
