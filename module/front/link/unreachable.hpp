#pragma once

#include <string_view>

namespace cgpu::front {

/// Tells cgpud, for its log, that this program gets no driver, and why: one of the details of
/// wire::Event::driver_unreachable. The first time in a process; waits a second at most. Without a link
/// nobody can be told: cgpud looks for such processes itself.
void tell_unreachable(std::string_view why);

}  // namespace cgpu::front
