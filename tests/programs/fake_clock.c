/* For LD_PRELOAD: what libfaketime does. The clocks that libc tells stand still (FAKE_CLOCK=still), are slow
 * (slow, a tenth) or fast (fast, ten times), or are those of another day (ahead, behind), or the wall clock
 * alone is an hour ahead (hour); waits are as long as these clocks say, and system calls through libc's
 * syscall() that read a clock or wait are answered here, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const long long second = 1000000000;
static int (*real_gettime)(clockid_t, struct timespec*);
static int (*real_nanosleep)(clockid_t, int, const struct timespec*, struct timespec*);
static int (*real_ppoll)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*);
static long (*real_syscall)(long, ...);
static double rate = 1;
static long long shift;
static long long wall_shift;
static struct timespec began[2]; /* CLOCK_REALTIME, CLOCK_MONOTONIC */

/* POSIX's way to turn what dlsym() returns into a function. */
static void find(const char* name, void** function) { *function = dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void start(void) {
    const char* how = getenv("FAKE_CLOCK");
    if (real_gettime != NULL) return;
    find("clock_nanosleep", (void**)&real_nanosleep);
    find("ppoll", (void**)&real_ppoll);
    find("syscall", (void**)&real_syscall);
    find("clock_gettime", (void**)&real_gettime);
    if (how == NULL || strcmp(how, "still") == 0)
        rate = 0;
    else if (strcmp(how, "slow") == 0)
        rate = 0.1;
    else if (strcmp(how, "fast") == 0)
        rate = 10;
    else if (strcmp(how, "hour") == 0)
        wall_shift = 3600 * second;
    else
        shift = (strcmp(how, "behind") == 0 ? -1LL : 1LL) * 86400 * second;
    real_gettime(CLOCK_REALTIME, &began[0]);
    real_gettime(CLOCK_MONOTONIC, &began[1]);
}

static long long ns_of(const struct timespec* time) { return time->tv_sec * second + time->tv_nsec; }

int clock_gettime(clockid_t clock, struct timespec* time) {
    start();
    const int result = real_gettime(clock, time);
    if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)) return result;
    const long long from = ns_of(&began[clock == CLOCK_MONOTONIC]);
    long long told = from + (long long)((double)(ns_of(time) - from) * rate) + shift +
                     (clock == CLOCK_REALTIME ? wall_shift : 0);
    if (told < 0) told = 0;
    time->tv_sec = told / second;
    time->tv_nsec = told % second;
    return 0;
}

time_t time(time_t* out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL) *out = now.tv_sec;
    return now.tv_sec;
}

/* How long such a wait really takes. */
static struct timespec real_length(long long ns) {
    if (rate > 0) ns = (long long)((double)ns / rate);
    if (ns < 0) ns = 0;
    return (struct timespec){ns / second, ns % second};
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* until, struct timespec* left) {
    long long ns = ns_of(until);
    struct timespec now;
    if ((flags & TIMER_ABSTIME) != 0) {
        clock_gettime(clock, &now);
        ns -= ns_of(&now);
    }
    const struct timespec length = real_length(ns);
    return real_nanosleep(CLOCK_MONOTONIC, 0, &length, left);
}

int nanosleep(const struct timespec* length, struct timespec* left) {
    const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, length, left);
    if (error == 0) return 0;
    errno = error;
    return -1;
}

int ppoll(struct pollfd* entries, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
    start();
    struct timespec length;
    if (timeout != NULL) length = real_length(ns_of(timeout));
    return real_ppoll(entries, count, timeout != NULL ? &length : NULL, mask);
}

int poll(struct pollfd* entries, nfds_t count, int milliseconds) {
    const struct timespec timeout = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return ppoll(entries, count, milliseconds < 0 ? NULL : &timeout, NULL);
}

long syscall(long number, ...) {
    long a[6];
    va_list list;
    start();
    va_start(list, number);
    for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
    va_end(list);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): arguments of system calls are numbers
    if (number == SYS_clock_gettime) return clock_gettime((clockid_t)a[0], (struct timespec*)a[1]);
    if (number == SYS_clock_nanosleep || number == SYS_ppoll ||
        (number == SYS_futex && a[3] != 0 && (a[1] & 127) != 1)) {
        errno = ETIMEDOUT;
        return -1;
    }
    return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
