#pragma once

#include "module/front/contexts/context_table.hpp"

namespace cgpu::front {

/// An event from the context's pool; null if the driver has none. The context must be current.
CUevent take_event(Context& context);
void put_event(Context& context, CUevent event);

}  // namespace cgpu::front
