// A forked child starts from scratch: not connected, without accounts, and without locks held by threads that
// it doesn't have. (The driver itself can't be used in a child forked after cuInit; one forked earlier calls
// cuInit itself.)
#include <pthread.h>

#include "module/front/base/errands.hpp"
#include "module/front/compute/gate.hpp"
#include "module/front/contexts/context_table.hpp"
#include "module/front/driver/captures.hpp"
#include "module/front/lease/bindings.hpp"
#include "module/front/lease/gives.hpp"
#include "module/front/lease/physical.hpp"
#include "module/front/lease/pool_frees.hpp"
#include "module/front/lease/pools.hpp"
#include "module/front/lease/shared_memory.hpp"
#include "module/front/memory/context_count.hpp"
#include "module/front/memory/graph_memory.hpp"
#include "module/front/process/service_thread.hpp"
#include "module/front/process/switcher.hpp"
#include "module/front/session/session.hpp"
#include "module/front/sizes/code_table.hpp"

namespace cgpu::front {
namespace {

void in_child() {
    service_thread().reset_in_child();
    errands().reset_in_child();
    switcher().reset_in_child();
    session().reset_in_child();
    contexts().reset_in_child();
    for (int gpu = 0; gpu < static_cast<int>(wire::kMaxGpus); ++gpu) context_count(gpu).reset_in_child();
    pool_frees().reset_in_child();
    pools().reset_in_child();
    graph_memory().reset_in_child();
    physical().reset_in_child();
    bindings().reset_in_child();
    shared_memory().reset_in_child();
    code_table().reset_in_child();
    gives().reset_in_child();
    reset_gate_in_child();
    captures_under_way.store(0);
}

// When the front is loaded: a fork that has begun asks no handler that is registered meanwhile, and the child
// would wait for a thread that it doesn't have.
__attribute__((constructor)) void handle_forks() { pthread_atfork(nullptr, nullptr, in_child); }

}  // namespace
}  // namespace cgpu::front
