#pragma once

#include <string>
#include <string_view>

namespace cgpu::system {

/// The cgroup that was made for one job or container, out of the text of the /proc/PID/cgroup of a process in
/// it: the path down to the part that is named as engines and cgpuctl name it, such as `/docker/ID` or
/// `/…/cgpu-job-ID.scope`; the name may have more digits than the id. `/…/run-rID.service` is a service's.
/// Empty where the process is in no such cgroup. Empty, too, unless the id is 12 hexadecimal digits or more,
/// as engines and cgpuctl give them: users choose ids, and `user-1000.slice` is the cgroup of a whole
/// session.
[[nodiscard]] std::string cgroup_made_for(std::string_view text, std::string_view id);

/// Whether the process of which this is the /proc/PID/cgroup is in a cgroup, or below it. False for an empty
/// path.
[[nodiscard]] bool is_in_cgroup(std::string_view text, std::string_view cgroup);

}  // namespace cgpu::system
