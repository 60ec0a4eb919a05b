/* What the simulator and the test programs take from a newer glibc beyond what the module does
 * (module/portable/compat.c). */
#define _LARGEFILE64_SOURCE
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOCAL __attribute__((visibility("hidden")))

LOCAL int fstat64(int descriptor, struct stat64* out) { return (int)syscall(SYS_fstat, descriptor, out); }

/* sscanf in programs that a glibc of 2.38 or newer has the headers of (C23 reads binary numbers, too: nobody
 * here asks for that). */
int old_vsscanf(const char* text, const char* format, va_list values) __asm__("vsscanf");
LOCAL int __isoc23_sscanf(const char* text, const char* format, ...) {
    va_list values;
    va_start(values, format);
    const int count = old_vsscanf(text, format, values);
    va_end(values);
    return count;
}
