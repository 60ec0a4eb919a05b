#include "module/front/contexts/context_batches.hpp"

#include <algorithm>

#include "module/front/driver/stream_key.hpp"

namespace cgpu::front {

Batch* ContextBatches::find(module::BatchId id) {
    for (Batch* each = first; each != nullptr; each = each->next) {
        if (each->id == id) return each;
    }
    return nullptr;
}

Batch* ContextBatches::take(module::BatchId id) {
    for (Batch** place = &first; *place != nullptr; place = &(*place)->next) {
        if ((*place)->id != id) continue;
        Batch* found = *place;
        *place = found->next;
        return found;
    }
    return nullptr;
}

SharedStream* ContextBatches::find_shared(CUstream stream) {
    const auto has_key = [key = stream_key(stream)](const SharedStream& each) { return each.key == key; };
    auto* found = std::find_if(shared_streams.begin(), shared_streams.end(), has_key);
    return found != shared_streams.end() ? found : nullptr;
}

void ContextBatches::close_once_open(module::BatchId id) {
    if (!is_to_close(id)) early_closes[next_early++ % early_closes.size()] = id;
}

bool ContextBatches::is_to_close(module::BatchId id) const {
    return std::find(early_closes.begin(), early_closes.end(), id) != early_closes.end();
}

void ContextBatches::note_shared(const Batch& batch) {
    constexpr std::uint32_t kForget = 64;
    SharedStream* known = find_shared(batch.stream);
    if (batch.shared) {
        if (known == nullptr) known = &shared_streams[next_shared++ % shared_streams.size()];
        *known = {stream_key(batch.stream), 0};
    } else if (known != nullptr && ++known->unshared > kForget) {
        *known = SharedStream{};
    }
}

}  // namespace cgpu::front
