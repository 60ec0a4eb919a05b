/* A program under the system calls that Docker allows its containers, less those that it didn't yet in 19.03,
 * the oldest one supported; any other kills it, where Docker answers EPERM: so does this to membarrier, which
 * the module asks for and does without. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/programs/kinds/loading/linked.h"

static const int allowed[] = {
#define CALL(name) SYS_##name,
#include "tests/programs/kinds/docker_calls.inc"
#undef CALL
};

enum { kAllowed = sizeof allowed / sizeof *allowed, kHead = 4, kTail = 7 };

static void confine(void) {
    const struct sock_filter load_call =
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr));
    const struct sock_filter head[kHead] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        load_call,
    };
    const struct sock_filter tail[kTail] = {
        /* libc has begun with it before the filter came, and ends the process where a new thread may not. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rseq, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 3, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        /* Docker's own answer to this one: libc takes the older call then. */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    static struct sock_filter filter[kHead + 2 * kAllowed + kTail];
    unsigned short length = 0;
    for (int i = 0; i < kHead; ++i) filter[length++] = head[i];
    for (int i = 0; i < kAllowed; ++i) {
        const struct sock_filter is_it = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
        const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
        filter[length++] = is_it;
        filter[length++] = allow;
    }
    for (int i = 0; i < kTail; ++i) filter[length++] = tail[i];
    const struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        fail("prctl", errno);
}

int main(void) {
    confine();
    return do_errand(linked_function);
}
