#pragma once

#include "core/model/instances.hpp"

namespace cgpu::model {

/// Calls with each instance that isn't the very same in both, by their ids. Null: there is none on that side.
/// What nobody has changed since one was copied from the other isn't looked at, so with hundreds of instances
/// a change of one costs little.
template <class Call>
void for_each_difference(const Instances& before, const Instances& now, Call call) {
    auto then = before.begin();
    auto since = now.begin();
    while (then != before.end() || since != now.end()) {
        const auto* was = then == before.end() ? nullptr : &(*then).second;
        const auto* is = since == now.end() ? nullptr : &(*since).second;
        const bool comes_first = was != nullptr && is != nullptr && was != is && was->id < is->id;
        const bool comes_later = was != nullptr && is != nullptr && was != is && is->id < was->id;
        if (comes_first) is = nullptr;
        if (comes_later) was = nullptr;
        if (was != nullptr) ++then;
        if (is != nullptr) ++since;
        if (was != is) call(was, is);
    }
}

}  // namespace cgpu::model
