/* What a new compiler's static libstdc++ and libgcc take from a glibc newer than 2.17, defined here for the
 * library alone. Each does what glibc's manual says, by means that 2.17 has. newer.c has what 2.31 lacks,
 * too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- randomness (glibc 2.25) */

int getentropy(void* buffer, size_t bytes) {
    if (bytes > 256) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_getrandom, buffer, bytes, 0) == (long)bytes ? 0 : -1;
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
