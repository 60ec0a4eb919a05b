#include "module/front/contexts/event_pool.hpp"

#include "module/front/driver/real_driver.hpp"

namespace cgpu::front {

CUevent take_event(Context& context) {
    ContextBatches& batches = context.batches;
    batches.mutex.lock();
    CUevent event = !contexts().any_green() && batches.pooled > 0 ? batches.pool[--batches.pooled] : nullptr;
    batches.mutex.unlock();
    if (event == nullptr && real::cuEventCreate(&event, 0) != kSuccess) return nullptr;
    return event;
}

void put_event(Context& context, CUevent event) {
    if (event == nullptr) return;
    ContextBatches& batches = context.batches;
    batches.mutex.lock();
    // Beside green contexts an event is made for the one that was current then, which may be another one.
    const bool kept = !contexts().any_green() && batches.pooled < batches.pool.size();
    if (kept) batches.pool[batches.pooled++] = event;
    batches.mutex.unlock();
    if (!kept) real::cuEventDestroy_v2(event);
}

}  // namespace cgpu::front
