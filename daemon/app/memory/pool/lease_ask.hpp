#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/wire/message.hpp"
#include "daemon/app/memory/pool/lease_key.hpp"

namespace cgpu::app {

/// A process asks for memory.
struct LeaseAsk {
    enum class What {
        lease,
        context,  ///< beside the lease: at least what a context is expected to take
        load,     ///< beside the lease: for code or heaps. No bytes: only `spare` is held back
        usage,    ///< no bytes: what the instance uses, once the size of the process's context is known
    };
    LeaseKey key;
    What what = What::lease;
    std::uint64_t bytes = 0;  ///< whole granules
    std::uint64_t spare = 0;  ///< bytes that it may take beyond that: held back if there is room
};

struct LeaseAnswer {
    std::uint64_t granted = 0;  ///< bytes; 0 where it was refused
    wire::Why why = wire::Why::none;
    std::uint64_t limit = 0;
    std::uint64_t used = 0;  ///< by the whole instance on this GPU, unsized memory included
    std::string trouble;     ///< what an operator should read in the log; empty: nothing
};

/// Delivers an answer. False: it could not be delivered, so the grant is returned.
using LeaseReply = std::function<bool(const LeaseAnswer&)>;

}  // namespace cgpu::app
