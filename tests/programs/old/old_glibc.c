/* What the simulator takes from a newer glibc beyond what the module does (module/portable/compat.c). */
#define _LARGEFILE64_SOURCE
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOCAL __attribute__((visibility("hidden")))

LOCAL int fstat64(int descriptor, struct stat64* out) { return (int)syscall(SYS_fstat, descriptor, out); }
