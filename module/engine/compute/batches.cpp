#include "module/engine/compute/batches.hpp"

#include <algorithm>
#include <new>

namespace cgpu::module {
namespace {

constexpr std::uint64_t kSerialMask = (std::uint64_t{1} << 56) - 1;

}  // namespace

void Batch::add(std::uint64_t function, std::int64_t each, std::int64_t now_ns) {
    last_function = function;
    ++launches;
    estimate_ns += each;
    last_ns = now_ns;
    const bool listed =
        std::find(functions, functions + function_count, function) != functions + function_count;
    if (!listed && function_count < kMostFunctions) functions[function_count++] = function;
}

void Batch::add_ahead(std::uint32_t count, std::int64_t ns) {
    launches += count;
    last_count += count;
    estimate_ns += ns;
}

void Batch::take_back_time(std::uint32_t count, std::int64_t ns) {
    count = std::min(count, launches);
    launches -= count;
    last_count -= std::min(last_count, count);
    estimate_ns = launches == 0 ? 0 : estimate_ns - std::clamp<std::int64_t>(ns, 0, estimate_ns);
}

Batches::~Batches() {
    for (Node* list : {first_, unused_}) {
        while (list != nullptr) {
            Node* next = list->next;
            host_.free(list);
            list = next;
        }
    }
}

Batch* Batches::add(std::uint64_t context, std::uint64_t stream, std::int64_t now_ns) {
    Batch batch{};
    batch.id = ((tag_ + 1) << 56) | (++serial_ & kSerialMask);
    batch.state = BatchState::open;
    batch.context = context;
    batch.stream = stream;
    batch.first_ns = batch.last_ns = batch.start_ns = now_ns;
    Node* node = append(batch);
    return node == nullptr ? nullptr : &node->batch;
}

bool Batches::adopt(const Batch& batch) {
    serial_ = std::max(serial_, batch.id & kSerialMask);  // lest an id comes twice
    return append(batch) != nullptr;
}

void Batches::remove(BatchId id) {
    Node* before = nullptr;
    for (Node* node = first_; node != nullptr; before = node, node = node->next) {
        if (node->batch.id != id) continue;
        (before == nullptr ? first_ : before->next) = node->next;
        if (last_ == node) last_ = before;
        node->next = unused_;
        unused_ = node;
        return;
    }
}

Batch* Batches::find(BatchId id) {
    return first([id](const Batch& batch) { return batch.id == id; });
}

bool Batches::next_open(std::uint64_t context, std::uint64_t stream, std::int64_t older_than_ns,
                        BatchId& named, OpenBatch& out) {
    constexpr std::uint64_t kAnyStream = ~std::uint64_t{0};
    const auto matches = [&](const Batch& batch) {
        return batch.state == BatchState::open && (context == 0 || batch.context == context) &&
               (stream == kAnyStream || batch.stream == stream) &&
               (older_than_ns <= 0 || batch.last_ns < older_than_ns);
    };
    const Batch* found = named == 0 ? nullptr : first(matches, named);
    if (found == nullptr) found = first(matches);
    if (found == nullptr) return false;
    named = found->id;
    out = {found->id, found->context, found->stream};
    return true;
}

BatchId Batches::oldest_closed(std::uint64_t context, BatchId after) {
    const Batch* found =
        first([&](const Batch& each) { return each.state == BatchState::closed && each.context == context; },
              after);
    return found == nullptr ? 0 : found->id;
}

BatchId Batches::following(BatchId id) {
    const Batch* from = find(id);
    return from == nullptr ? 0 : oldest_closed(from->context, id);
}

Batches::Node* Batches::append(const Batch& batch) {
    Node* node = unused_;
    if (node != nullptr) {
        unused_ = node->next;
    } else {
        void* memory = host_.allocate(sizeof(Node));
        if (memory == nullptr) return nullptr;
        node = new (memory) Node;
    }
    *node = {batch, nullptr};
    (last_ == nullptr ? first_ : last_->next) = node;
    last_ = node;
    return node;
}

}  // namespace cgpu::module
