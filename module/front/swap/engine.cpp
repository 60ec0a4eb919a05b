#include "module/front/swap/engine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "module/front/swap/engine_file.hpp"

namespace cgpu::front {

bool EngineHandle::load(const char* path) {
    char why[sizeof wire::Switched::detail];
    Running first;
    const auto result = load_engine(path, 0, first, why);
    // Otherwise the files that the parent had loaded would stay mapped for ever.
    for (Running& inherited : engines_) unload_code(inherited);
    if (result != wire::SwitchResult::done) return false;
    now_ = &engines_[0];
    *now_ = first;
    sections().begin(*now_);
    return true;
}

void EngineHandle::bind(const wire::Orders* orders, wire::Reports* reports) {
    orders_.store(orders);
    reports_.store(reports);
    call(&module::EngineTable::bind, orders, reports);
}

wire::Switched EngineHandle::running() const {
    auto told = wire::make_message<wire::Switched>();
    told.result = wire::SwitchResult::running;
    const Section section;
    if (section.running() != nullptr) told.version = section.running()->table->version;
    return told;
}

// The exchange of engines. All slow steps are done before callers are kept out.

namespace {

using wire::SwitchResult;

/// Callers are kept out this long at most for a thread that doesn't leave the engine (mostly because it has
/// no core); then all continue for as long, and the next try takes twice the time.
constexpr std::int64_t kFirstPatience = 500 * kMicrosecond;
constexpr std::int64_t kLongestPatience = 16 * kMillisecond;

/// Memory for the saved state of an engine.
class SaveBuffer {
  public:
    SaveBuffer() = default;
    ~SaveBuffer() { std::free(memory_); }
    SaveBuffer(const SaveBuffer&) = delete;
    SaveBuffer& operator=(const SaveBuffer&) = delete;

    /// Room for this size and some more, because callers continue meanwhile. False: there is no memory.
    bool make_room(std::uint64_t bytes) {
        constexpr std::uint64_t kSlack = std::uint64_t{64} * 1024;
        const std::uint64_t wanted = bytes + bytes / 4 + kSlack;
        if (bytes + kSlack / 2 <= room_) return true;
        std::free(memory_);
        room_ = 0;
        memory_ = std::malloc(wanted);
        if (memory_ == nullptr) return false;
        std::memset(memory_, 0, wanted);  // or its pages would be made while callers are kept out
        room_ = wanted;
        return true;
    }
    void* memory() const { return memory_; }
    std::uint64_t room() const { return room_; }

  private:
    void* memory_ = nullptr;
    std::uint64_t room_ = 0;
};

/// True if all figures that the ABI returns without a change are the same in both engines.
bool agree(const Running& old, const Running& fresh, wire::Switched& answer) {
    const auto same = [&](const char* what, std::uint32_t gpu, std::uint64_t before, std::uint64_t after) {
        if (before == after) return true;
        std::snprintf(answer.detail, sizeof answer.detail, "GPU %u: %s %llu before, %llu after", gpu, what,
                      static_cast<unsigned long long>(before), static_cast<unsigned long long>(after));
        return false;
    };
    const auto now = now_ns();
    const auto outstanding = [now](const Running& each, std::uint32_t gpu) -> std::uint64_t {
        return each.table->poll_at(each.engine, gpu, now) != kNever ? 1 : 0;
    };
    const auto open = [](const Running& each, std::uint32_t gpu) -> std::uint64_t {
        constexpr std::uint64_t kAnyStream = ~std::uint64_t{0};
        module::OpenBatch batch{};
        return each.table->next_open_batch(each.engine, gpu, 0, kAnyStream, 0, &batch);
    };
    for (std::uint32_t gpu = 0; gpu < wire::kMaxGpus; ++gpu) {
        if (!same("charged bytes", gpu, old.table->charged(old.engine, gpu),
                  fresh.table->charged(fresh.engine, gpu)) ||
            !same("leased bytes", gpu, old.table->leased(old.engine, gpu),
                  fresh.table->leased(fresh.engine, gpu)) ||
            !same("work under way", gpu, outstanding(old, gpu), outstanding(fresh, gpu)) ||
            !same("open batches", gpu, open(old, gpu), open(fresh, gpu)))
            return false;
    }
    return true;
}

}  // namespace

void EngineHandle::reset_in_child() {
    sections().reset_in_child();
    now_ = nullptr;
    orders_.store(nullptr);
    reports_.store(nullptr);
}

wire::Switched EngineHandle::exchange(const wire::Switch& order) {
    const auto until = now_ns() + order.deadline_ms * kMillisecond;
    wire::Switched answer = running();
    answer.header.request = order.header.request;
    answer.result = SwitchResult::done;
    if (order.version == answer.version) return answer;
    Running& next = now_ == &engines_[0] ? engines_[1] : engines_[0];
    answer.result = load_engine(order.engine, order.version, next, answer.detail);
    if (answer.result != SwitchResult::done) return answer;
    Running& before = *now_;
    answer.result = take_over(next, until, answer);
    const bool done = answer.result == SwitchResult::done;
    unload_engine(done ? before : next);
    answer.version = now_->table->version;
    return answer;
}

wire::SwitchResult EngineHandle::take_over(Running& next, std::int64_t until_ns, wire::Switched& answer) {
    SaveBuffer saved;
    for (auto patience = kFirstPatience;; patience = std::min(2 * patience, kLongestPatience)) {
        if (!saved.make_room(call(&module::EngineTable::save, nullptr, std::uint64_t{0}))) {
            wire::put_text(answer.detail, "no memory for what the present engine knows");
            return SwitchResult::self_check;
        }
        const auto began = now_ns();
        if (began >= until_ns) {
            wire::put_text(answer.detail, "no moment without a call in the present engine, or long loading");
            return SwitchResult::busy;
        }
        auto result = SwitchResult::busy;
        if (sections().close(std::min(until_ns, began + patience))) {
            result = hand_over(next, saved.memory(), saved.room(), answer);
            if (result == SwitchResult::done) now_ = &next;
            sections().open(*now_);
        }
        const auto ended = now_ns();
        answer.held_ns = std::max(answer.held_ns, static_cast<std::uint64_t>(ended - began));
        if (result != SwitchResult::busy) return result;
        sleep_until(std::min(ended + patience, until_ns));
    }
}

/// With no thread in either engine. Busy: the state has grown beyond the buffer; another try may succeed.
wire::SwitchResult EngineHandle::hand_over(const Running& next, void* saved, std::uint64_t room,
                                           wire::Switched& answer) {
    const std::uint64_t bytes = now_->table->save(now_->engine, saved, room);
    if (bytes > room) return SwitchResult::busy;
    if (next.table->restore(next.engine, saved, bytes) == 0) {
        wire::put_text(answer.detail, "it did not understand what the present engine knows");
        return SwitchResult::self_check;
    }
    if (!agree(*now_, next, answer)) return SwitchResult::self_check;
    next.table->bind(next.engine, orders_.load(), reports_.load());
    return SwitchResult::done;
}

}  // namespace cgpu::front
