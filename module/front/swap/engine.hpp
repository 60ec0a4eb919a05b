#pragma once

#include <cstddef>

#include "core/wire/message.hpp"
#include "module/engine/abi/api.hpp"
#include "module/front/base/waiting.hpp"
#include "module/front/swap/sections.hpp"

namespace cgpu::front {

/// The engine behind the ABI of module/engine/abi/api.hpp. All calls of the front go through here, each as a
/// section: so the engine can be exchanged while the process runs. Keys, batches and reservations that it has
/// handed out stay valid across an exchange. If no engine was ever loaded (in a forked child before its own
/// cuInit), calls do nothing.
class EngineHandle {
  public:
    constexpr EngineHandle() = default;
    EngineHandle(const EngineHandle&) = delete;
    EngineHandle& operator=(const EngineHandle&) = delete;

    /// Loads the first engine, <engine folder>/<path>. False if the path leaves the folder, or the file can't
    /// be loaded or has another ABI.
    bool load(const char* path);
    bool loaded() const { return now_ != nullptr; }
    /// Changes to another engine with the complete state of the present one. After any failure the present
    /// one stays in force, unchanged. Called by one thread at a time, which holds nothing that callers wait
    /// for.
    wire::Switched exchange(const wire::Switch& order);
    /// The engine that runs here, as Switched with the result `running`.
    wire::Switched running() const;

    /// After a fork: the copy of the parent's accounts can't be used here.
    void reset_in_child();

    void bind(const wire::Orders* orders, wire::Reports* reports);

    std::uint64_t reserve(std::uint32_t gpu, std::uint64_t bytes) const {
        return call(&module::EngineTable::reserve, gpu, bytes);
    }
    void commit(std::uint32_t gpu, module::Holding kind, std::uint64_t key, std::uint64_t bytes,
                std::uint64_t reserved) const {
        call(&module::EngineTable::commit, gpu, kind, key, bytes, reserved);
    }
    void cancel(std::uint32_t gpu, std::uint64_t reserved) const {
        call(&module::EngineTable::cancel, gpu, reserved);
    }
    bool find(module::Holding kind, std::uint64_t key, std::uint32_t* gpu, std::uint64_t* bytes) const {
        return call(&module::EngineTable::find, kind, key, gpu, bytes) != 0;
    }
    void freeing(bool begins) const { call(&module::EngineTable::freeing, begins ? 1u : 0u); }
    bool release(module::Holding kind, std::uint64_t key) const {
        return call(&module::EngineTable::release, kind, key) != 0;
    }
    void note_context(module::Holding kind, std::uint64_t key, std::uint64_t context) const {
        call(&module::EngineTable::note_context, kind, key, context);
    }
    void release_context(std::uint64_t context) const {
        call(&module::EngineTable::release_context, context);
    }
    void lease(std::uint32_t gpu, std::uint64_t bytes) const {
        call(&module::EngineTable::lease, gpu, bytes);
    }
    std::uint64_t spare(std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep) const {
        return call(&module::EngineTable::spare, gpu, wanted, keep);
    }
    std::uint64_t surrender(module::Holding kind, std::uint64_t key) const {
        return call(&module::EngineTable::surrender, kind, key);
    }
    std::uint64_t charged(std::uint32_t gpu) const { return call(&module::EngineTable::charged, gpu); }
    std::uint64_t leased(std::uint32_t gpu) const { return call(&module::EngineTable::leased, gpu); }
    std::uint64_t resize(std::uint32_t gpu, module::Holding kind, std::uint64_t key, std::uint64_t bytes,
                         std::uint64_t reserved) const {
        return call(&module::EngineTable::resize, gpu, kind, key, bytes, reserved);
    }

    void request_time(const module::TimeRequest& request, module::TimeGrant& grant) const {
        grant = module::TimeGrant{};
        call(&module::EngineTable::request_time, &request, &grant);
    }
    void return_time(std::uint32_t gpu, module::BatchId batch, std::uint32_t launches,
                     std::int64_t ns) const {
        call(&module::EngineTable::return_time, gpu, batch, launches, ns);
    }
    bool may_estimate(module::BatchId batch) const {
        return call(&module::EngineTable::may_estimate, batch) != 0;
    }
    void estimated(module::BatchId batch, std::int64_t end_ns, bool by_event, std::int64_t now,
                   std::uint32_t* ring) const {
        call(&module::EngineTable::estimated, batch, end_ns, by_event ? 1u : 0u, now, ring);
    }
    bool next_open_batch(std::uint32_t gpu, std::uint64_t context, std::uint64_t stream,
                         std::int64_t older_than_ns, module::OpenBatch* batch) const {
        return call(&module::EngineTable::next_open_batch, gpu, context, stream, older_than_ns, batch) != 0;
    }
    void closed(module::BatchId batch, std::int64_t now) const {
        call(&module::EngineTable::closed, batch, now);
    }
    module::BatchId oldest(std::uint32_t gpu, std::uint64_t context) const {
        return call(&module::EngineTable::oldest, gpu, context);
    }
    module::BatchId following(module::BatchId batch) const {
        return call(&module::EngineTable::following, batch);
    }
    void reaped(module::BatchId batch, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now,
                std::uint32_t* ring) const {
        call(&module::EngineTable::reaped, batch, start_ns, end_ns, now, ring);
    }
    void lost(module::BatchId batch) const { call(&module::EngineTable::lost, batch); }
    void first_launched(module::BatchId batch, std::int64_t ns, std::int64_t now) const {
        constexpr std::uint64_t kNeeded =
            offsetof(module::EngineTable, first_launched) + sizeof(module::EngineTable::first_launched);
        const Section section;
        const Running* running = section.running();
        if (running == nullptr || running->table->bytes < kNeeded) return;
        running->table->first_launched(running->engine, batch, ns, now);
    }
    std::int64_t poll_at(std::uint32_t gpu, std::int64_t now) const {
        return call(&module::EngineTable::poll_at, gpu, now);
    }
    void sync_begin(std::uint32_t gpu, std::int64_t now) const {
        call(&module::EngineTable::sync_begin, gpu, now);
    }
    void sync_end(std::uint32_t gpu, std::int64_t now) const {
        call(&module::EngineTable::sync_end, gpu, now);
    }

  private:
    wire::SwitchResult take_over(Running& next, std::int64_t until_ns, wire::Switched& answer);
    wire::SwitchResult hand_over(const Running& next, void* saved, std::uint64_t bytes,
                                 wire::Switched& answer);
    template <class Result, class... Parameters, class... Arguments>
    Result call(Result (*module::EngineTable::*function)(module::Engine*, Parameters...),
                Arguments... arguments) const {
        const Section section;
        const Running* running = section.running();
        if (running == nullptr) [[unlikely]]
            return Result();
        return (running->table->*function)(running->engine, arguments...);
    }

    Running engines_[2];
    Running* now_ = nullptr;  ///< one of them; the exchanging thread's, others see it in their sections
    std::atomic<const wire::Orders*> orders_{nullptr};
    std::atomic<wire::Reports*> reports_{nullptr};
};

}  // namespace cgpu::front
