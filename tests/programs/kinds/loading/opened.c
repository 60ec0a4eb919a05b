/* opened LIBRARY [HOW [per-thread]]: a program that opens the driver itself. */
#include "tests/programs/kinds/loading/opened.h"

int main(int argc, char** argv) {
    open_driver(argc > 1 ? argv[1] : "libcuda.so.1", argc > 2 ? argv[2] : "local");
    if (argc > 3) use_per_thread_variants();
    return do_errand(opened_function);
}
