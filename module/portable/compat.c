/* What a new compiler's static libstdc++ and libgcc take from a glibc newer than 2.17, defined here for the
 * library alone. Each does what glibc's manual says, by means that 2.17 has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 0: the process may have threads, so that atomics are used always. glibc sets its own to 1 where it is sure.
 */
char __libc_single_threaded = 0;

/* --- the unwinder: which object holds an address, and where its table of frames lies (glibc 2.35) */

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

/* --- randomness (glibc 2.25 and 2.36) */

int getentropy(void* buffer, size_t bytes) {
    if (bytes > 256) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, bytes, 0) == (long)bytes ? 0 : -1;
}

uint32_t arc4random(void) {
    uint32_t value = 0;
    /* Kernels before 3.17 have no getrandom; the address of a local is all that is left there. */
    if (getentropy(&value, sizeof value) != 0) value = (uint32_t)((uintptr_t)&value >> 4);
    return value;
}

/* --- timed waits on a chosen clock (glibc 2.30): what remains, told by the clock of the condition variable
 */

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
    enum { kSecond = 1000000000 };
    struct timespec now;
    struct timespec real;
    if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0) return EINVAL;
    int64_t left = (int64_t)(until->tv_sec - now.tv_sec) * kSecond + (until->tv_nsec - now.tv_nsec);
    if (left < 0) left = 0;
    left += real.tv_nsec;
    real.tv_sec += (time_t)(left / kSecond);
    real.tv_nsec = (long)(left % kSecond);
    return pthread_cond_timedwait(condition, mutex, &real);
}

/* --- stat as functions (glibc 2.33; before it they were inline calls of __xstat) */

int fstat(int descriptor, struct stat* out) { return (int)syscall(SYS_fstat, descriptor, out); }
int stat(const char* restrict path, struct stat* restrict out) { return (int)syscall(SYS_stat, path, out); }
int lstat(const char* restrict path, struct stat* restrict out) { return (int)syscall(SYS_lstat, path, out); }

/* --- destructors of thread_local objects (glibc 2.18): run at the end of their thread, last made first */

struct thread_destructor {
    struct thread_destructor* next;
    void (*run)(void*);
    void* object;
};

static pthread_key_t destructors_key;
static pthread_once_t destructors_once = PTHREAD_ONCE_INIT;
static int destructors_error = 0;

static void run_destructors(void* first) {
    struct thread_destructor* each = first;
    while (each != NULL) {
        struct thread_destructor* next = each->next;
        each->run(each->object);
        free(each);
        each = next;
    }
}

static void make_destructors_key(void) {
    destructors_error = pthread_key_create(&destructors_key, run_destructors);
}

int __cxa_thread_atexit_impl(void (*run)(void*), void* object, void* library) {
    (void)library; /* the libraries that use thread_local objects are never unloaded */
    if (pthread_once(&destructors_once, make_destructors_key) != 0 || destructors_error != 0) return -1;
    struct thread_destructor* entry = malloc(sizeof *entry);
    if (entry == NULL) return -1;
    entry->next = pthread_getspecific(destructors_key);
    entry->run = run;
    entry->object = object;
    return pthread_setspecific(destructors_key, entry);
}

/* --- C23's names of the number parsers (glibc 2.38), as its headers rename the calls */

#define FORWARD_PARSER(type, name)                                   \
    extern type old_##name(const char*, char**, int) __asm__(#name); \
    type __isoc23_##name(const char* text, char** end, int base);    \
    type __isoc23_##name(const char* text, char** end, int base) { return old_##name(text, end, base); }
FORWARD_PARSER(long, strtol)
FORWARD_PARSER(unsigned long, strtoul)
FORWARD_PARSER(long long, strtoll)
FORWARD_PARSER(unsigned long long, strtoull)
