#include "client/modules/installed.hpp"

#include "bundle/bundle.hpp"

namespace cgpu::client {

InstalledModule look_at_module(const std::filesystem::path& modules, const upgrade::Version& version,
                               const EngineUsers& users) {
    InstalledModule module{version, modules / version.str(), std::nullopt, {}, users.of(version)};
    if (const auto verified = bundle::verify(module.folder); !verified) module.fault = verified.error().text;
    if (const auto manifest = bundle::read_manifest(module.folder)) module.manifest = *manifest;
    return module;
}

std::vector<InstalledModule> installed_modules(const std::filesystem::path& modules,
                                               const EngineUsers& users) {
    std::vector<InstalledModule> found;
    for (const upgrade::Version& version : bundle::versions_in(modules))
        found.push_back(look_at_module(modules, version, users));
    return found;
}

}  // namespace cgpu::client
