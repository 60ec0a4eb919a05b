#pragma once

#include "module/front/context_table.hpp"
#include "module/front/session.hpp"

/// Reserve → driver call → commit or cancel, for everything that takes device memory.
namespace cgpu::front {

/// Sets bytes of the lease aside, asking the daemon for what lacks, and in need taking what the process's
/// pools keep for later and waiting for pool memory that is on its way back. kSuccess or kOutOfMemory.
/// `until_ns`: when the daemon has to have answered.
std::int64_t ask_deadline();
CUresult reserve(int gpu, std::uint64_t bytes, std::int64_t until_ns = ask_deadline());

/// kOutOfMemory, for an allocation of so many bytes that the program asked for: the daemon is told, which
/// counts it and says it in its log. Once for each, after all that was tried for it; reserve() has done it
/// itself.
CUresult refuse(int gpu, std::uint64_t bytes);

/// The steps of that: without the pools; a lease of so many bytes more.
bool try_reserve(int gpu, std::uint64_t bytes, std::int64_t until_ns);
bool ask_for(int gpu, std::uint64_t bytes, std::int64_t until_ns);

/// What a driver call has made.
struct Made {
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
};

/// Runs `make(Made&)`, a driver call that takes at most `bytes` of a GPU that isolates memory, and charges
/// what it made. `context`: the key of the context whose end frees it; 0: none.
template <class Make>
CUresult charged(int gpu, std::uint64_t bytes, module::Holding kind, std::uint64_t context, Make make) {
    const Uncancelled uncancelled;
    if (const CUresult refused = reserve(gpu, bytes); refused != kSuccess) return refused;
    Made made;
    made.bytes = bytes;
    const auto index = static_cast<std::uint32_t>(gpu);
    const CUresult result = make(made);
    if (result != kSuccess) {
        session().engine().cancel(index, bytes);
        return result;
    }
    session().engine().commit(index, kind, made.key, made.bytes, bytes);
    if (context != 0) session().engine().note_context(kind, made.key, context);
    return kSuccess;
}

/// How an allocation of the current context is to be handled.
struct Place {
    Route route = Route::pass;
    Context* context = nullptr;
    CUresult refusal = kSuccess;  ///< for Route::broken: what to answer
};

/// Route::managed only where the current context's GPU isolates memory. `what` names the function in a
/// notice.
Place place_of_current(const char* what);

/// Around a driver call that may free what is charged, and its released().
class Freeing {
  public:
    Freeing() { session().engine().freeing(true); }
    ~Freeing() { session().engine().freeing(false); }
    Freeing(const Freeing&) = delete;
    Freeing& operator=(const Freeing&) = delete;

  private:
    Uncancelled uncancelled_;
};

/// Ends a charge after a successful free. False: nothing was charged for it.
bool released(module::Holding kind, std::uint64_t key);

}  // namespace cgpu::front
