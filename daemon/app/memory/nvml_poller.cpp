#include "daemon/app/memory/nvml_poller.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::app {

NvmlPoller::NvmlPoller(Loop& loop, Gpus& gpus, const Settings& settings, Calls calls)
    : loop_(loop), gpus_(gpus), settings_(settings), calls_(std::move(calls)) {}

void NvmlPoller::look(const model::Uuid& gpu) {
    State& state = states_[gpu];
    state.delay = settings_.first;
    if (state.under_way)
        state.again = true;
    else
        begin(gpu);
}

void NvmlPoller::keep_looking(const model::Uuid& gpu) {
    const State& state = states_[gpu];
    if (!state.under_way && state.timer == nullptr) look(gpu);
}

void NvmlPoller::begin(const model::Uuid& gpu) {
    State& state = states_[gpu];
    state.timer.reset();
    state.under_way = true;
    state.again = false;
    calls_.begins(gpu);
    gpus_.processes(gpu, [this, gpu, alive = std::weak_ptr(alive_)](const Figures& figures) {
        if (!alive.expired()) end(gpu, figures);
    });
}

void NvmlPoller::end(const model::Uuid& gpu, const Figures& figures) {
    State& state = states_[gpu];
    state.under_way = false;
    const auto next = calls_.seen(gpu, figures);
    if (state.under_way) return;  // somebody wanted a look meanwhile and got it
    if (state.again) return begin(gpu);
    switch (next) {
        case Next::rest:
            return;
        case Next::later:
            state.timer = loop_.at(loop_.now() + settings_.idle, [this, gpu] { look(gpu); });
            return;
        case Next::soon:
            state.timer = loop_.at(loop_.now() + state.delay, [this, gpu] { begin(gpu); });
            state.delay = std::min(state.delay * 2, settings_.last);
            return;
    }
}

}  // namespace cgpu::app
