#include "daemon/gpu/reader/xid_events.hpp"

namespace cgpu::gpu {
namespace {

/// The maximum number of events of one card that one query takes.
constexpr int kMostOfOneLook = 256;

}  // namespace

XidEvents::XidEvents(const NvmlLibrary& nvml) : nvml_(nvml) {
    if (nvml_.event_set_create == nullptr || nvml_.event_set_create(&set_) != kNvmlSuccess) set_ = nullptr;
}

XidEvents::~XidEvents() {
    if (set_ != nullptr) nvml_.event_set_free(set_);
}

void XidEvents::watch(NvmlDevice device, const model::Uuid& gpu) {
    if (set_ == nullptr || watched_.contains(device)) return;
    if (nvml_.register_events(device, kNvmlEventXid, set_) == kNvmlSuccess) watched_.emplace(device, gpu);
}

std::vector<model::XidError> XidEvents::take() {
    std::vector<model::XidError> all;
    if (set_ == nullptr || watched_.empty()) return all;
    NvmlEvent event{};
    for (int i = 0; i < kMostOfOneLook && nvml_.event_set_wait(set_, &event, 0) == kNvmlSuccess; ++i) {
        const auto found = watched_.find(event.device);
        if (found != watched_.end() && (event.type & kNvmlEventXid) != 0)
            all.push_back({found->second, event.data});
    }
    return all;
}

}  // namespace cgpu::gpu
