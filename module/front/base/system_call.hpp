#pragma once

#include <cstddef>

namespace cgpu::front {

namespace detail {
template <class T>
long as_register(T value) {
    return static_cast<long>(value);
}
template <class T>
long as_register(T* value) {
    return reinterpret_cast<long>(value);
}
inline long as_register(std::nullptr_t) { return 0; }
}  // namespace detail

/// A system call that no library can get in front of: libc's functions, its syscall() among them, are
/// replaced by what the environment names in LD_PRELOAD. It is no point of cancellation, and leaves errno
/// alone.
/// @return what the kernel returns: -ERROR if it failed.
template <class A = int, class B = int, class C = int, class D = int, class E = int, class F = int>
long system_call(long number, A a = {}, B b = {}, C c = {}, D d = {}, E e = {}, F f = {}) {
    long result = number;
    register long r10 __asm__("r10") = detail::as_register(d);
    register long r8 __asm__("r8") = detail::as_register(e);
    register long r9 __asm__("r9") = detail::as_register(f);
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(detail::as_register(a)), "S"(detail::as_register(b)), "d"(detail::as_register(c)),
                       "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

}  // namespace cgpu::front
