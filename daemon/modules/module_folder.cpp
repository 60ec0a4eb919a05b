#include "daemon/modules/module_folder.hpp"

#include "bundle/bundle.hpp"

namespace cgpu::modules {

std::vector<upgrade::Manifest> ModuleFolder::list() {
    std::vector<upgrade::Manifest> manifests;
    for (const upgrade::Version& version : bundle::versions_in(folder_))
        if (const auto manifest = bundle::read_manifest(folder_ / version.str()))
            manifests.push_back(*manifest);
    return manifests;
}

app::Result<upgrade::Manifest> ModuleFolder::verified(upgrade::Version version) {
    return bundle::verify(folder_ / version.str());
}

}  // namespace cgpu::modules
