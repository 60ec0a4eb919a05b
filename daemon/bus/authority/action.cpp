#include "daemon/bus/authority/action.hpp"

namespace cgpu::bus {

std::string_view id_of(Action action) {
    switch (action) {
        case Action::run:
            return "org.cgpu1.run";
        case Action::manage_instance:
            return "org.cgpu1.manage-instance";
        case Action::manage_policy:
            return "org.cgpu1.manage-policy";
        case Action::upgrade_module:
            return "org.cgpu1.upgrade-module";
    }
    return {};
}

}  // namespace cgpu::bus
