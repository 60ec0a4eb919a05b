#pragma once

#include <string_view>

namespace cgpu::bus {

/// What a caller other than root must be authorized for by polkit. org.cgpu1.policy says what each is and who
/// may by default.
enum class Action {
    run,              ///< to make instances, and to attach own processes to own instances
    manage_instance,  ///< to limit and release instances of anybody, and attach to them; implies `run`
    manage_policy,    ///< to change how a GPU is divided
    upgrade_module,   ///< to begin and cancel jobs: upgrades, and switches of the node's mode
};

/// As polkit knows it.
[[nodiscard]] std::string_view id_of(Action action);

}  // namespace cgpu::bus
