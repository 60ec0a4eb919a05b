#include "client/cgpuctl/doctor/facts/free_space.hpp"

namespace cgpu::cgpuctl::doctor {

Finding judge_space(const char* check, const std::string& folder, const char* effect, const Space& space) {
    if (space.read_only)
        return {Level::problem, check, folder + ": it is on a file system that is mounted read-only", effect,
                "find out why in dmesg, and then mount -o remount,rw it"};
    const std::string look = "df -h " + folder + " and df -i " + folder + ", and delete what is not needed";
    if (space.has_blocks && space.bytes < kTooFull)
        return {Level::problem, check, folder + ": its disk is full", effect, look};
    if (space.has_files && space.files == 0)
        return {Level::problem, check, folder + ": its disk has no free inode", effect, look};
    if (space.has_blocks && space.bytes < kNearlyFull)
        return {Level::warning, check, folder + ": its disk has less than 16MiB left", effect, look};
    return ok(check, folder + " can be written");
}

}  // namespace cgpu::cgpuctl::doctor
