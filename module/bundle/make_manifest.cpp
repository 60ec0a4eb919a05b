#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bundle/bundle.hpp"
#include "bundle/manifest_text.hpp"
#include "bundle/sha256.hpp"
#include "core/elf/shared_object.hpp"
#include "core/upgrade/manifest.hpp"
#include "core/wire/limits.hpp"
#include "module/engine/abi/api.hpp"

/// For builds and tests, not installed: writes the manifest of an engine file that is in its bundle's folder.
namespace cgpu::bundle {
namespace {

namespace fs = std::filesystem;
using upgrade::Version;

// This release's daemon must know the ABI of this release's engine.
static_assert(module::kEngineAbi >= upgrade::kOldestEngineAbi &&
              module::kEngineAbi <= upgrade::kNewestEngineAbi);

constexpr const char* kUsage =
    "usage: cgpu-make-manifest FOLDER [COMPATIBLE_FROM [LEAST_FRONT]]\n"
    "Writes FOLDER/manifest.json for FOLDER/libcgpu-engine.so.VERSION; the folder's name is the version.\n";

int fail(const std::string& why) {
    std::cerr << "cgpu-make-manifest: " << why << '\n';
    return 1;
}

std::optional<std::string> read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return file ? std::optional(text) : std::nullopt;
}

int make(const fs::path& folder, const std::string& compatible_from, const std::string& least_front) {
    const auto version = Version::parse(folder.filename().native());
    const auto from = Version::parse(compatible_from);
    const auto front = Version::parse(least_front);
    if (!version || !from || !front) return fail("a version has three numbers, such as 1.2.3. Try: --help");
    const auto engine = read_text(folder / upgrade::engine_name(*version));
    if (!engine) return fail((folder / upgrade::engine_name(*version)).native() + ": it can't be read");

    const upgrade::Manifest manifest{*version,
                                     module::kEngineAbi,
                                     wire::kPageVersion,
                                     wire::kVersion,
                                     *from,
                                     *front,
                                     upgrade::engine_name(*version),
                                     sha256(std::as_bytes(std::span(*engine))),
                                     std::string(elf::this_machine())};
    const std::string text = write_manifest(manifest);
    if (const auto read = parse_manifest(text); !read) return fail(read.error());
    const fs::path path = folder / kManifestName;
    if (!(std::ofstream(path, std::ios::binary | std::ios::trunc) << text).flush() ||
        chmod(path.c_str(), 0644) != 0)
        return fail(path.native() + ": it can't be written");
    return 0;
}

int main_of(const std::vector<std::string>& arguments) {
    if (arguments.empty() || arguments.size() > 3 || arguments[0].starts_with('-')) {
        std::cerr << kUsage;
        return 2;
    }
    const fs::path folder = (fs::absolute(arguments[0]) / "").lexically_normal().parent_path();
    return make(folder, arguments.size() > 1 ? arguments[1] : CGPU_COMPATIBLE_FROM,
                arguments.size() > 2 ? arguments[2] : CGPU_LEAST_FRONT);
}

}  // namespace
}  // namespace cgpu::bundle

int main(int argc, char** argv) { return cgpu::bundle::main_of({argv + 1, argv + argc}); }
