#include "client/run/mounts/mount_plan.hpp"

#include "core/wire/limits.hpp"

namespace cgpu::client {
namespace {

constexpr const char* kBase = "/run/cgpu";
constexpr const char* kLinkFolder = "/run/cgpu/link";
constexpr const char* kNothing = "/run/cgpu/front/nothing";

}  // namespace

std::string cover_of(const DriverLibrary& library) {
    return library.hidden ? kNothing : std::string(kFrontFolder) + "/" + library.soname;
}

MountPlan plan_mounts(const std::vector<DriverLibrary>& driver, const std::string& link_folder,
                      const ModuleFolders& installed) {
    MountPlan plan;
    plan.base = kBase;
    plan.inside = {{link_folder, kLinkFolder, Bind::Side::host},
                   {installed.module, wire::kModuleFolder, Bind::Side::host}};
    plan.nothing = kNothing;
    for (const DriverLibrary& library : driver) {
        const std::string made = cover_of(library);
        if (!library.hidden)
            plan.fronts.push_back({installed.front + "/" + library.soname, library.real.path, made});
        for (const LibraryFile& file : library.files)
            plan.over.push_back({made, file.path, Bind::Side::inside, file.id});
    }
    return plan;
}

}  // namespace cgpu::client
