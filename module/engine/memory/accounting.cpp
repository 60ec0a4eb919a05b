#include "module/engine/memory/accounting.hpp"

#include <algorithm>
#include <limits>

namespace cgpu::module {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > kMax - b ? kMax : a + b; }

/// The granules of a holding: those it fills, which no other can touch, and the (at most two) that it shares.
struct Span {
    std::uint64_t filled_bytes = 0;
    std::uint64_t edges[2] = {};
    std::uint32_t edge_count = 0;
};

Span span_of(std::uint32_t gpu, std::uint64_t address, std::uint64_t bytes) {
    Span span;
    if (bytes == 0) return span;
    const std::uint64_t end = sum(address, bytes);
    const std::uint64_t first = address / wire::kGranule;
    const std::uint64_t last = (end - 1) / wire::kGranule;
    const bool first_filled = address % wire::kGranule == 0;
    const bool last_filled = end % wire::kGranule == 0;
    // A granule's number has 43 bits, so the GPU's index is stored above it.
    const auto edge = [gpu](std::uint64_t granule) { return (std::uint64_t{gpu} << 48) | granule; };
    if (first == last) {
        if (first_filled && last_filled) {
            span.filled_bytes = wire::kGranule;
        } else {
            span.edges[span.edge_count++] = edge(first);
        }
        return span;
    }
    if (!first_filled) span.edges[span.edge_count++] = edge(first);
    if (!last_filled) span.edges[span.edge_count++] = edge(last);
    span.filled_bytes = (last - first + 1 - span.edge_count) * wire::kGranule;
    return span;
}

/// Arrays have no address, so it isn't known which granules small ones share: together they are charged for
/// as many as their bytes fill.
bool is_small_array(Holding kind, const Held& held) {
    return kind == Holding::array && held.bytes < wire::kGranule;
}

}  // namespace

Accounting::Accounting(const EngineHost& host)
    : addresses_(host), arrays_(host), physical_(host), pools_(host), edges_(host) {}

void Accounting::bind(const wire::Orders* orders, wire::Reports* reports) {
    const Guard guard(lock_);
    orders_ = orders;
    reports_ = reports;
    // First, because a report is believed from its first charge on.
    report_changes();
    for (std::uint32_t gpu = 0; gpu < wire::kMaxGpus; ++gpu) report(gpu);
}

std::uint64_t Accounting::reserve(std::uint32_t gpu, std::uint64_t bytes) {
    const std::uint64_t wanted = wire::align_up(bytes);
    if (gpu >= wire::kMaxGpus) return wanted;
    const Guard guard(lock_);
    Gpu& on = gpus_[gpu];
    const bool limited = orders_ == nullptr || orders_->gpus[gpu].isolate_memory.load() != 0;
    const std::uint64_t after = sum(sum(on.charged, on.reserved), wanted);
    if (limited && after > on.leased) return after - on.leased;
    if (after == kMax || !make_room(changes_.pending + 1)) return wanted;
    on.reserved += wanted;
    ++changes_.pending;
    ++changes_.begun;
    report_changes();
    return 0;
}

void Accounting::commit(std::uint32_t gpu, Holding kind, std::uint64_t key, std::uint64_t bytes,
                        std::uint64_t reserved) {
    Shelf* shelf = shelf_of(kind);
    if (gpu >= wire::kMaxGpus || shelf == nullptr) return;
    const Guard guard(lock_);
    take_off_reserved(gpu, reserved);
    // Without a reservation there may be no memory to record it; then it is not charged, and neither is its
    // free.
    put(kind, *shelf, key, Held{gpu, bytes, 0});
}

bool Accounting::put(Holding kind, Shelf& shelf, std::uint64_t key, const Held& fresh) {
    if (!edges_.make_room(2) || !shelf.make_room(1)) return false;
    if (const Held* old = shelf.held.find(key)) {
        const Held moved = *old;
        // If three holdings got the same key, the first was freed long ago.
        if (const Held* oldest = shelf.earlier.find(key)) end_charge(kind, key, Held{*oldest});
        shelf.earlier.erase(key);
        shelf.earlier.insert(key, moved);
        shelf.held.erase(key);
    }
    shelf.held.insert(key, fresh);
    Gpu& on = gpus_[fresh.gpu];
    const std::uint64_t charge = charge_for(kind, key, fresh);
    on.charged = sum(on.charged, charge);
    if (kind == Holding::pool) on.pooled = sum(on.pooled, charge);
    report(fresh.gpu);
    return true;
}

void Accounting::cancel(std::uint32_t gpu, std::uint64_t reserved) {
    if (gpu >= wire::kMaxGpus) return;
    const Guard guard(lock_);
    take_off_reserved(gpu, reserved);
}

std::uint64_t Accounting::resize(std::uint32_t gpu, Holding kind, std::uint64_t key, std::uint64_t bytes,
                                 std::uint64_t reserved) {
    Shelf* shelf = shelf_of(kind);
    if (gpu >= wire::kMaxGpus || kind != Holding::pool) return 0;
    const Guard guard(lock_);
    take_off_reserved(gpu, reserved);
    Held* held = shelf->held.find(key);
    if (held == nullptr) {
        // A thing without memory needs no record.
        if (bytes == 0 || !shelf->held.make_room(1)) return 0;
        held = shelf->held.insert(key, Held{gpu, 0, 0});
    }
    Gpu& on = gpus_[gpu];
    const std::uint64_t before = wire::align_up(held->bytes);
    on.charged = sum(on.charged - std::min(on.charged, before), wire::align_up(bytes));
    if (kind == Holding::pool)
        on.pooled = sum(on.pooled - std::min(on.pooled, before), wire::align_up(bytes));
    held->bytes = bytes;
    report(gpu);
    const bool limited = orders_ == nullptr || orders_->gpus[gpu].isolate_memory.load() != 0;
    return limited && on.charged > on.leased ? on.charged - on.leased : 0;
}

bool Accounting::find(Holding kind, std::uint64_t key, Held& out) {
    Shelf* shelf = shelf_of(kind);
    if (shelf == nullptr) return false;
    const Guard guard(lock_);
    const Held* found = shelf->held.find(key);
    if (found != nullptr) out = *found;
    return found != nullptr;
}

void Accounting::freeing(bool begins) {
    const Guard guard(lock_);
    if (begins) {
        ++changes_.freeing;
        ++changes_.begun;
    } else if (changes_.freeing > 0) {
        --changes_.freeing;
    }
    report_changes();
}

/// Takes a holding off its shelf.
bool Accounting::take(Holding kind, std::uint64_t key, Held& out) {
    Shelf* shelf = shelf_of(kind);
    if (shelf == nullptr) return false;
    Map<Held>& from = shelf->earlier.find(key) != nullptr ? shelf->earlier : shelf->held;
    const Held* found = from.find(key);
    if (found == nullptr) return false;
    out = *found;
    from.erase(key);
    return true;
}

bool Accounting::release(Holding kind, std::uint64_t key) {
    const Guard guard(lock_);
    Held gone{};
    if (!take(kind, key, gone)) return false;
    end_charge(kind, key, gone);
    return true;
}

std::uint64_t Accounting::surrender(Holding kind, std::uint64_t key) {
    const Guard guard(lock_);
    Held gone{};
    if (!take(kind, key, gone)) return 0;
    Gpu& on = gpus_[gone.gpu];
    const std::uint64_t bytes = std::min(end_charge(kind, key, gone), on.leased);
    on.leased -= bytes;
    return bytes;
}

void Accounting::note_context(Holding kind, std::uint64_t key, std::uint64_t context) {
    Shelf* shelf = shelf_of(kind);
    if (shelf == nullptr) return;
    const Guard guard(lock_);
    if (Held* found = shelf->held.find(key)) found->context = context;
}

void Accounting::release_context(std::uint64_t context) {
    if (context == 0) return;
    const Guard guard(lock_);
    for (const Holding kind : {Holding::address, Holding::array, Holding::physical, Holding::pool}) {
        const auto end = [&](std::uint64_t key, const Held& held) {
            if (held.context != context) return false;
            end_charge(kind, key, held);
            return true;
        };
        Shelf& shelf = *shelf_of(kind);
        shelf.earlier.erase_if(end);
        shelf.held.erase_if(end);
        // If the later holding of a key is gone, the earlier one is the only one again.
        shelf.earlier.erase_if([&](std::uint64_t key, const Held& held) {
            return shelf.held.find(key) == nullptr && shelf.held.insert(key, held) != nullptr;
        });
    }
}

void Accounting::lease(std::uint32_t gpu, std::uint64_t bytes) {
    if (gpu >= wire::kMaxGpus) return;
    const Guard guard(lock_);
    gpus_[gpu].leased = sum(gpus_[gpu].leased, bytes);
}

std::uint64_t Accounting::spare(std::uint32_t gpu, std::uint64_t wanted, std::uint64_t keep) {
    if (gpu >= wire::kMaxGpus) return 0;
    const Guard guard(lock_);
    Gpu& on = gpus_[gpu];
    const std::uint64_t needed = sum(sum(on.charged, on.reserved), keep);
    if (needed >= on.leased) return 0;
    const std::uint64_t given = wire::align_down(std::min(wanted, on.leased - needed));
    on.leased -= given;
    return given;
}

std::uint64_t Accounting::charged(std::uint32_t gpu) {
    if (gpu >= wire::kMaxGpus) return 0;
    const Guard guard(lock_);
    return gpus_[gpu].charged;
}

std::uint64_t Accounting::leased(std::uint32_t gpu) {
    if (gpu >= wire::kMaxGpus) return 0;
    const Guard guard(lock_);
    return gpus_[gpu].leased;
}

Accounting::Allotment Accounting::allotment(std::uint32_t gpu) {
    const Guard guard(lock_);
    return {gpus_[gpu].leased, gpus_[gpu].reserved};
}

void Accounting::adopt(std::uint32_t gpu, const Allotment& allotment) {
    const Guard guard(lock_);
    gpus_[gpu].leased = allotment.leased;
    gpus_[gpu].reserved = allotment.reserved;
}

Accounting::Changes Accounting::changes() {
    const Guard guard(lock_);
    return changes_;
}

bool Accounting::adopt(const Changes& changes) {
    constexpr std::uint64_t kMost = 1 << 20;  // more threads than any process has
    if (changes.pending > kMost) return false;
    const Guard guard(lock_);
    changes_ = changes;
    return make_room(changes.pending);
}

/// One more holding than exist may be moved among the earlier ones.
bool Accounting::make_room_for(Holding kind, std::uint64_t count) {
    const Guard guard(lock_);
    Shelf* shelf = shelf_of(kind);
    if (shelf == nullptr) return false;
    // The number of granules that its holdings share isn't known; most holdings end within the one in which
    // the next begins.
    return shelf->held.make_room(count) && (kind != Holding::address || edges_.make_room(count));
}

bool Accounting::adopt(Holding kind, std::uint64_t key, const Held& held) {
    Shelf* shelf = shelf_of(kind);
    if (shelf == nullptr || held.gpu >= wire::kMaxGpus) return false;
    const Guard guard(lock_);
    return put(kind, *shelf, key, held);
}

Accounting::Shelf* Accounting::shelf_of(Holding kind) {
    switch (kind) {
        case Holding::address:
            return &addresses_;
        case Holding::array:
            return &arrays_;
        case Holding::physical:
            return &physical_;
        case Holding::pool:
            return &pools_;
    }
    return nullptr;
}

/// For this many commits, of any kind.
bool Accounting::make_room(std::uint64_t commits) {
    return addresses_.make_room(commits) && arrays_.make_room(commits) && physical_.make_room(commits) &&
           pools_.make_room(commits) && edges_.make_room(2 * commits);
}

std::uint64_t Accounting::charge_for(Holding kind, std::uint64_t key, const Held& held) {
    if (is_small_array(kind, held)) {
        std::uint64_t& all = gpus_[held.gpu].small_arrays;
        const std::uint64_t before = wire::align_up(all);
        all += held.bytes;
        return wire::align_up(all) - before;
    }
    if (kind != Holding::address) return wire::align_up(held.bytes);
    const Span span = span_of(held.gpu, key, held.bytes);
    std::uint64_t bytes = span.filled_bytes;
    for (std::uint32_t i = 0; i < span.edge_count; ++i) bytes += touch_edge(span.edges[i]);
    return bytes;
}

/// Returns how many bytes it took.
std::uint64_t Accounting::end_charge(Holding kind, std::uint64_t key, const Held& held) {
    std::uint64_t bytes = 0;
    if (kind == Holding::address) {
        const Span span = span_of(held.gpu, key, held.bytes);
        bytes = span.filled_bytes;
        for (std::uint32_t i = 0; i < span.edge_count; ++i) bytes += leave_edge(span.edges[i]);
    } else if (is_small_array(kind, held)) {
        std::uint64_t& all = gpus_[held.gpu].small_arrays;
        bytes = wire::align_up(all) - wire::align_up(all - held.bytes);
        all -= held.bytes;
    } else {
        bytes = wire::align_up(held.bytes);
    }
    Gpu& on = gpus_[held.gpu];
    on.charged -= std::min(on.charged, bytes);
    if (kind == Holding::pool) on.pooled -= std::min(on.pooled, bytes);
    report(held.gpu);
    return bytes;
}

std::uint64_t Accounting::touch_edge(std::uint64_t edge) {
    std::uint64_t* holders = edges_.insert(edge, 0);
    if (holders == nullptr) return 0;
    return ++*holders == 1 ? wire::kGranule : 0;
}

std::uint64_t Accounting::leave_edge(std::uint64_t edge) {
    std::uint64_t* holders = edges_.find(edge);
    if (holders == nullptr || --*holders > 0) return 0;
    edges_.erase(edge);
    return wire::kGranule;
}

void Accounting::take_off_reserved(std::uint32_t gpu, std::uint64_t bytes) {
    if (bytes == 0) return;
    Gpu& on = gpus_[gpu];
    on.reserved -= std::min(on.reserved, wire::align_up(bytes));
    if (changes_.pending > 0) --changes_.pending;
    report_changes();
}

void Accounting::report(std::uint32_t gpu) {
    if (reports_ == nullptr) return;
    wire::GpuReport& report = reports_->gpus[gpu];
    report.charged_bytes.store(gpus_[gpu].charged);
    report.pooled_bytes.store(gpus_[gpu].pooled);
    // A page that was never written can't be distinguished from a charge of zero in any other way.
    std::int64_t never = 0;
    report.updated_ns.compare_exchange_strong(never, 1);
}

void Accounting::report_changes() {
    if (reports_ == nullptr) return;
    reports_->changing.store(static_cast<std::uint32_t>(changes_.pending) + changes_.freeing);
    reports_->changes.store(changes_.begun);
}

}  // namespace cgpu::module
