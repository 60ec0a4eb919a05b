#include "module/front/contexts/event_pool.hpp"

#include "module/front/driver/real_driver.hpp"

namespace cgpu::front {

CUevent take_event(Context& context) {
    ContextMeter& meter = context.meter;
    meter.mutex.lock();
    CUevent event = meter.pooled > 0 ? meter.pool[--meter.pooled] : nullptr;
    meter.mutex.unlock();
    if (event == nullptr && real::cuEventCreate(&event, 0) != kSuccess) return nullptr;
    return event;
}

void put_event(Context& context, CUevent event) {
    if (event == nullptr) return;
    ContextMeter& meter = context.meter;
    meter.mutex.lock();
    const bool kept = meter.pooled < meter.pool.size();
    if (kept) meter.pool[meter.pooled++] = event;
    meter.mutex.unlock();
    if (!kept) real::cuEventDestroy_v2(event);
}

}  // namespace cgpu::front
