/* exports LIBRARY NAMES INIT: whether the loader finds each function of the list NAMES in the library, by
 * dlsym and by dlvsym, before and after a call of its function INIT, and that call's code. Prints `found N`
 * and a line for each function: the same lines with a front before the library as without one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "tests/programs/kinds/errand/errand.h"

static unsigned long long found;

static int finds(void* library, const char* name, const char* version) {
    const int is_there = (version == NULL ? dlsym(library, name) : dlvsym(library, name, version)) != NULL;
    if (is_there) ++found;
    return is_there;
}

static void look_all_up(void* library, const char* soname, const char* names) {
    char name[96];
    FILE* file = fopen(names, "r");
    if (file == NULL) fail(names, -1);
    while (fscanf(file, "%90s", name) == 1)
        printf("%s: dlsym %d, dlvsym %d %d\n", name, finds(library, name, NULL), finds(library, name, soname),
               finds(library, name, "GLIBC_2.2.5"));
    fclose(file);
}

int main(int argc, char** argv) {
    if (argc < 4) return 2;
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) fail(dlerror(), -1);
    look_all_up(library, argv[1], argv[2]);
    int (*init)(unsigned) = NULL;
    *(void**)&init = dlsym(library, argv[3]);
    if (init == NULL) fail(argv[3], -1);
    printf("init %d\n", init(0));
    look_all_up(library, argv[1], argv[2]);
    printf("found %llu\n", found);
    return 0;
}
