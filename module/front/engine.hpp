#pragma once

#include "module/engine/api.hpp"

namespace cgpu::front {

/// The loaded engine behind the ABI of module/engine/api.hpp. All calls of the front go through here: one
/// place for what a change of engines will need.
class EngineHandle {
  public:
    constexpr EngineHandle() = default;

    /// Loads <engine folder>/<path>. False where the path leaves the folder, the file can't be loaded, or
    /// speaks another ABI.
    bool load(const char* path);
    bool loaded() const { return engine_ != nullptr; }
    /// After a fork: the copy of the parent's accounts is of no use here.
    void forget() { *this = EngineHandle{}; }

    void bind(const wire::Orders* orders, wire::Reports* reports) const {
        table_->bind(engine_, orders, reports);
    }

    std::uint64_t reserve(std::uint32_t gpu, std::uint64_t bytes) const {
        return table_->reserve(engine_, gpu, bytes);
    }
    void commit(std::uint32_t gpu, module::Holding kind, std::uint64_t key, std::uint64_t bytes,
                std::uint64_t reserved) const {
        table_->commit(engine_, gpu, kind, key, bytes, reserved);
    }
    void cancel(std::uint32_t gpu, std::uint64_t reserved) const { table_->cancel(engine_, gpu, reserved); }
    bool find(module::Holding kind, std::uint64_t key, std::uint32_t* gpu, std::uint64_t* bytes) const {
        return table_->find(engine_, kind, key, gpu, bytes) != 0;
    }
    void freeing(bool begins) const { table_->freeing(engine_, begins ? 1 : 0); }
    bool release(module::Holding kind, std::uint64_t key) const {
        return table_->release(engine_, kind, key) != 0;
    }
    void note_context(module::Holding kind, std::uint64_t key, std::uint64_t context) const {
        table_->note_context(engine_, kind, key, context);
    }
    void release_context(std::uint64_t context) const { table_->release_context(engine_, context); }
    void lease(std::uint32_t gpu, std::uint64_t bytes) const { table_->lease(engine_, gpu, bytes); }
    std::uint64_t spare(std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep) const {
        return table_->spare(engine_, gpu, wanted, keep);
    }
    std::uint64_t charged(std::uint32_t gpu) const { return table_->charged(engine_, gpu); }
    std::uint64_t leased(std::uint32_t gpu) const { return table_->leased(engine_, gpu); }
    std::uint64_t resize(std::uint32_t gpu, module::Holding kind, std::uint64_t key, std::uint64_t bytes,
                         std::uint64_t reserved) const {
        return table_->resize(engine_, gpu, kind, key, bytes, reserved);
    }

    void enter(const module::Launch* launch, module::Decision* decision) const {
        table_->enter(engine_, launch, decision);
    }
    void unused(std::uint32_t gpu, module::BatchId batch, std::uint32_t count) const {
        table_->unused(engine_, gpu, batch, count);
    }
    bool next_open_batch(std::uint32_t gpu, std::uint64_t context, std::uint64_t stream,
                         std::int64_t older_than_ns, module::OpenBatch* batch) const {
        return table_->next_open_batch(engine_, gpu, context, stream, older_than_ns, batch) != 0;
    }
    void closed(module::BatchId batch, std::int64_t now) const { table_->closed(engine_, batch, now); }
    module::BatchId oldest(std::uint32_t gpu, std::uint64_t context) const {
        return table_->oldest(engine_, gpu, context);
    }
    module::BatchId following(module::BatchId batch) const { return table_->following(engine_, batch); }
    void reaped(module::BatchId batch, std::int64_t start_ns, std::int64_t end_ns, std::int64_t now,
                std::uint32_t* ring) const {
        table_->reaped(engine_, batch, start_ns, end_ns, now, ring);
    }
    void lost(module::BatchId batch) const { table_->lost(engine_, batch); }
    std::int64_t poll_at(std::uint32_t gpu, std::int64_t now) const {
        return table_->poll_at(engine_, gpu, now);
    }
    void sync_begin(std::uint32_t gpu, std::int64_t now) const { table_->sync_begin(engine_, gpu, now); }
    void sync_end(std::uint32_t gpu, std::int64_t now) const { table_->sync_end(engine_, gpu, now); }

  private:
    const module::EngineTable* table_ = nullptr;
    module::Engine* engine_ = nullptr;
};

}  // namespace cgpu::front
