/* An LD_AUDIT that looks at every object and binding, and changes nothing. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unistd.h>

unsigned la_version(unsigned version) {
    static const char kLine[] = "audited\n";
    (void)!write(STDOUT_FILENO, kLine, strlen(kLine));
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map* object, Lmid_t space, uintptr_t* cookie) {
    (void)object;
    (void)space;
    (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned index, uintptr_t* from, uintptr_t* to, unsigned* flags,
                       const char* name) {
    (void)index;
    (void)from;
    (void)to;
    (void)flags;
    (void)name;
    return symbol->st_value;
}
