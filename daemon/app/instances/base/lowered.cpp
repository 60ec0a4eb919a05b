#include "daemon/app/instances/base/lowered.hpp"

#include <cstddef>
#include <string>

namespace cgpu::app {

using model::Refusal;

Result<void> check_lowered(const model::Node& before, const model::Node& after, std::uint32_t user) {
    for (const auto& [id, instance] : after.instances()) {
        const auto* then = before.find_instance(id);
        if (then == nullptr || *then == instance) continue;
        const std::string what = model::describe(instance);
        if (instance.owner.user != user)
            return model::refuse(Refusal::Reason::not_permitted, what, "it is another user's",
                                 "ask an administrator, who has org.cgpu1.manage-instance");
        for (std::size_t which = 0; which < instance.quotas.size(); ++which) {
            const model::Quota& now = instance.quotas[which];
            const model::Quota& had = then->quotas[which];
            if (now.memory_limit > had.memory_limit || now.weight > had.weight ||
                (now.high_priority && !had.high_priority) || (now.exclusive && !had.exclusive))
                return model::refuse(Refusal::Reason::not_permitted, what,
                                     "an owner may lower what it has, and not raise it",
                                     "ask an administrator, who has org.cgpu1.manage-instance");
        }
    }
    return {};
}

}  // namespace cgpu::app
