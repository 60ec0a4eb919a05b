#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tests/sim/device/file/device.hpp"
#include "tests/sim/driver/base/abi.hpp"
#include "tests/sim/driver/base/process.hpp"
#include "tests/sim/driver/context/context.hpp"
#include "tests/sim/driver/context/host_functions.hpp"
#include "tests/sim/driver/mapping/physical_memory.hpp"
#include "tests/sim/driver/mapping/virtual_memory.hpp"
#include "tests/sim/driver/memory/graph_memory.hpp"
#include "tests/sim/driver/memory/memory.hpp"
#include "tests/sim/driver/stream/observer.hpp"
#include "tests/sim/driver/stream/words.hpp"

namespace simgpu {

/// The driver in this process, from cuInit to the process's end.
class Runtime : public Process {
  public:
    /// cuInit. @return CUDA_ERROR_NO_DEVICE without a device file, CUDA_ERROR_NOT_INITIALIZED in a forked
    /// child.
    static CUresult initialize();
    /// @return nullptr before cuInit, and in a child forked after it.
    static Runtime* get();

    Observer& observer() { return observer_; }
    Memory& memory() { return memory_; }
    Holdings& holdings() { return holdings_; }
    PhysicalHandles& physical_handles() { return physical_handles_; }
    VirtualMemory& virtual_memory() { return virtual_memory_; }
    HostFunctions& host_functions() { return host_functions_; }
    Words& words() { return words_; }
    GraphMemory& graph_memory() { return graph_memory_; }

    std::vector<Context*> living_contexts() const;
    /// @return nullptr and the reason if there is no room for it.
    Context* create_context(std::uint32_t ordinal, unsigned int flags, CUresult& result);
    void destroy_context(Context& context);

    /// Retains the primary context. @return nullptr and the reason if there is no room for it.
    Context* create_green(std::uint32_t ordinal, CUresult& result);
    void destroy_green(Context& context);

    CUresult retain_primary(std::uint32_t ordinal, Context*& context);
    CUresult release_primary(std::uint32_t ordinal);
    void reset_primary(std::uint32_t ordinal);
    struct Primary {
        std::unique_ptr<Context> context;
        unsigned int flags = 0;
        unsigned int holders = 0;
    };
    Primary& primary(std::uint32_t ordinal) { return primaries_[ordinal]; }

    /// Waits for all that was submitted in this process.
    void synchronize_all();
    /// After a synchronisation pools release what they need not keep.
    void synchronized();

  private:
    Runtime(std::unique_ptr<Device> device, std::vector<std::uint32_t> visible);
    /// Of all living contexts.
    std::vector<Queue*> living_queues() const;
    void list(Context& context);
    void unlist(Context& context);

    Words words_;
    Observer observer_;
    Holdings holdings_;
    PhysicalHandles physical_handles_;
    VirtualMemory virtual_memory_;
    Memory memory_;
    HostFunctions host_functions_;
    GraphMemory graph_memory_;

    mutable std::mutex contexts_mutex_;
    std::vector<Context*> living_;
    std::vector<std::unique_ptr<Context>> created_;
    std::mutex primaries_mutex_;
    std::vector<Primary> primaries_;
};

/// The calling thread's stack of current contexts.
std::vector<Context*>& context_stack();

/// @return the context with the memory and the code of the current context if that one can be used; otherwise
/// the result of the call.
CUresult current_context(Context*& context);
/// The same for streams and events, which a green context has of its own.
CUresult current_stream_context(Context*& context);

}  // namespace simgpu
