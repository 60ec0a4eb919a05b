/* The errand that every kind of program does, however it came by the driver: it asks how much memory there
 * is, and takes it in every way until it is refused. In C, so that it needs nothing but libc.
 *
 * What it finds it prints as lines `KEY VALUE`:
 *   total_mem, mem_info_total   bytes, as the driver says
 *   refused.WAY                 the code that ended this way of allocating (managed memory: at once)
 *   taken                       bytes that this call of take_all() was given
 *   error                       CALL CODE: what should have worked did not; the program ends with status 1
 *   ready                       it holds all it has until SIGTERM */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of the driver: the name that headers give it, what the newest one is exported as, and the CUDA
 * version (times 1000) that brought it. */
struct driver_name {
    const char* base;
    const char* symbol;
    int version;
    int takes_stream; /* has a variant for the per-thread default stream */
};

typedef void (*any_function)(void);
typedef any_function (*find_function)(const struct driver_name* name);

/* Looks all functions up; ends the program where one is not found. */
void find_driver(find_function find);
/* Initialises CUDA, makes the device's primary context the thread's current one, and prints the totals. */
void begin(int device);
/* The same context in another thread. */
void join_context(void);
/* cuInit alone; gives its code. */
int initialise(void);
/* The code of asking for the device's size. */
int ask_total(int device);
/* Allocates in pieces until nothing more is given; prints what came of it. Gives the bytes taken. */
size_t take_all(void);
/* Takes that many bytes in one piece; gives the code. */
int take_one(size_t bytes);
/* The same, and frees it again; gives the first code that is not 0. */
int take_and_free_one(size_t bytes);
/* Prints `ready` and waits for SIGTERM, which is blocked from a call of expect_end() on. */
void hold(void);
void expect_end(void);

/* All of it. Gives the program's exit status. */
int do_errand(find_function find);

/* Where lines are printed: standard output, unless it is told otherwise. */
void print_to(int descriptor);
void print(const char* key, const char* value);
void print_number(const char* key, unsigned long long value);
void fail(const char* call, long code) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
