#include "client/run/mount_plan.hpp"

#include "core/wire/limits.hpp"

namespace cgpu::client {
namespace {

constexpr const char* kBase = "/run/cgpu";
constexpr const char* kLinkFolder = "/run/cgpu/link";
constexpr const char* kFrontFolder = "/run/cgpu/front";

}  // namespace

MountPlan plan_mounts(const std::vector<DriverLibrary>& driver, const std::string& link_folder,
                      const ModuleFolders& installed) {
    MountPlan plan;
    plan.base = kBase;
    plan.inside = {{link_folder, kLinkFolder, Bind::Side::host},
                   {installed.module, wire::kModuleFolder, Bind::Side::host}};
    for (const DriverLibrary& library : driver) {
        const std::string made = std::string(kFrontFolder) + "/" + library.soname;
        plan.inside.push_back(
            {library.real, std::string(wire::kDriverFolder) + "/" + library.soname, Bind::Side::inside});
        plan.fronts.push_back({installed.front + "/" + library.soname, library.real, made});
        for (const std::string& file : library.files) plan.over.push_back({made, file, Bind::Side::inside});
    }
    return plan;
}

}  // namespace cgpu::client
