#include "module/front/lease/freeing.hpp"

#include "module/front/base/errands.hpp"

namespace cgpu::front {

bool released(module::Holding kind, std::uint64_t key) {
    const bool known = session().engine().release(kind, key);
    if (known) errands().note_free();
    return known;
}

}  // namespace cgpu::front
