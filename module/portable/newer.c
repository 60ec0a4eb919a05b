/* What a new compiler's static libstdc++ and libgcc take from a glibc newer than 2.31, defined here for the
 * file that has it alone. Each does what glibc's manual says, by means that 2.17 has (getentropy: compat.c).
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* 0: the process may have threads, so that atomics are used always. glibc sets its own to 1 where it is sure.
 */
char __libc_single_threaded = 0;

/* --- the unwinder: which object holds an address, and where its table of frames lies (glibc 2.35) */

#ifndef DLFO_STRUCT_HAS_EH_DBASE /* headers before 2.35 don't have it; so it is on x86-64 */
struct dl_find_object {
    unsigned long long dlfo_flags;
    void* dlfo_map_start;
    void* dlfo_map_end;
    struct link_map* dlfo_link_map;
    void* dlfo_eh_frame;
    unsigned long long reserved[7];
};
int _dl_find_object(void* address, struct dl_find_object* result);
#endif

struct object_search {
    uintptr_t address;
    struct dl_find_object* found;
};

static int look_into_object(struct dl_phdr_info* object, size_t size, void* data) {
    (void)size;
    struct object_search* search = data;
    uintptr_t lowest = UINTPTR_MAX;
    uintptr_t highest = 0;
    uintptr_t frames = 0;
    int inside = 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        const uintptr_t end = start + segment->p_memsz;
        if (segment->p_type == PT_GNU_EH_FRAME) frames = start;
        if (segment->p_type != PT_LOAD) continue;
        if (start < lowest) lowest = start;
        if (end > highest) highest = end;
        if (search->address >= start && search->address < end) inside = 1;
    }
    if (!inside || frames == 0) return 0;
    search->found->dlfo_flags = 0;
    /* NOLINTBEGIN(performance-no-int-to-ptr): the loader gives addresses as numbers. */
    search->found->dlfo_map_start = (void*)lowest;
    search->found->dlfo_map_end = (void*)highest;
    search->found->dlfo_link_map = NULL;
    search->found->dlfo_eh_frame = (void*)frames;
    /* NOLINTEND(performance-no-int-to-ptr) */
    return 1;
}

int _dl_find_object(void* address, struct dl_find_object* result) {
    struct object_search search = {(uintptr_t)address, result};
    return dl_iterate_phdr(look_into_object, &search) == 1 ? 0 : -1;
}

/* --- randomness (glibc 2.36) */

uint32_t arc4random(void);
uint32_t arc4random(void) {
    uint32_t value = 0;
    /* Kernels before 3.17 have no getrandom; the address of a local is all that is left there. */
    if (getentropy(&value, sizeof value) != 0) value = (uint32_t)((uintptr_t)&value >> 4);
    return value;
}
