/* A program that is linked with the driver. */
#include "tests/programs/kinds/loading/linked.h"

int main(void) { return do_errand(linked_function); }
