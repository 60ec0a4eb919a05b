#include "daemon/system/log/instance_names.hpp"

#include <utility>

namespace cgpu::system {

void InstanceNames::set(const std::string& short_id, Name name) {
    const std::lock_guard lock(mutex_);
    names_.insert_or_assign(short_id, std::move(name));
}

void InstanceNames::forget(const std::string& short_id) {
    const std::lock_guard lock(mutex_);
    names_.erase(short_id);
}

InstanceNames::Name InstanceNames::find(std::string_view short_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = names_.find(short_id);
    return found == names_.end() ? Name{} : found->second;
}

}  // namespace cgpu::system
