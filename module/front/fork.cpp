#include "module/front/fork.hpp"

#include <pthread.h>

#include "module/front/captures.hpp"
#include "module/front/code_table.hpp"
#include "module/front/context_table.hpp"
#include "module/front/engine_file.hpp"
#include "module/front/gate.hpp"
#include "module/front/gives.hpp"
#include "module/front/graph_memory.hpp"
#include "module/front/physical.hpp"
#include "module/front/pool_frees.hpp"
#include "module/front/pools.hpp"
#include "module/front/service.hpp"
#include "module/front/session.hpp"
#include "module/front/switcher.hpp"

namespace cgpu::front {
namespace {

void in_child() {
    after_fork_in_child();
    service().reset_in_child();
    switcher().reset_in_child();
    session().reset_in_child();
    contexts().reset_in_child();
    pool_frees().reset_in_child();
    pools().reset_in_child();
    graph_memory().reset_in_child();
    physical().reset_in_child();
    code_table().reset_in_child();
    gives().reset_in_child();
    reset_gate_in_child();
    captures_under_way.store(0);
}

}  // namespace

void reset_in_forked_children() {
    static std::atomic<bool> done{false};
    if (!done.exchange(true)) pthread_atfork(before_fork, after_fork_in_parent, in_child);
}

}  // namespace cgpu::front
