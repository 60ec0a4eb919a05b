// A library with a copy of its own of what each front has.
#include <pthread.h>

#include "module/front/link/undumpable.hpp"

using cgpu::front::Undumpable;

extern "C" {
[[gnu::visibility("default")]] void* holder_make() { return new Undumpable; }
[[gnu::visibility("default")]] void holder_end(void* made) { delete static_cast<Undumpable*>(made); }
[[gnu::visibility("default")]] void holder_handle_forks() {
    pthread_atfork(Undumpable::before_fork, Undumpable::after_fork_in_parent,
                   Undumpable::after_fork_in_child);
}
}
