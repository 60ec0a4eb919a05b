#include "bundle/bundle.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <system_error>

#include "bundle/manifest_text.hpp"
#include "bundle/root_owned_file.hpp"
#include "bundle/sha256.hpp"
#include "core/elf/shared_object.hpp"
#include "core/elf/symbols.hpp"
#include "core/model/quote.hpp"
#include "core/wire/limits.hpp"

namespace cgpu::bundle {
namespace {

namespace fs = std::filesystem;
using model::Refusal;
using Reason = Refusal::Reason;
using upgrade::Manifest;
using upgrade::Version;

constexpr const char* kTableSymbol = "cgpu_engine_table";

std::optional<Refusal> refused(Reason reason, const std::string& what, const std::string& why,
                               const char* remedy) {
    return model::make_refusal(reason, what, why, remedy);
}

/// Everything in the folder is mounted into jobs, so all of it must belong to root.
std::optional<Refusal> why_not_roots(const RootOwnedFile& folder) {
    const auto names = folder.names();
    if (!names) return names.error();
    for (const std::string& name : *names)
        if (const auto file = folder.file_in(name); !file) return file.error();
    return std::nullopt;
}

std::optional<Refusal> why_not_known(const Manifest& manifest, const std::string& path) {
    if (manifest.machine != elf::this_machine())
        return refused(Reason::unsupported, path,
                       "it is for " + model::quote(manifest.machine) + ", and this machine is " +
                           std::string(elf::this_machine()),
                       "use the bundle for this machine");
    const auto unknown = [&](std::uint32_t version, const char* what, bool older) {
        return refused(Reason::unsupported, path,
                       "it has version " + std::to_string(version) + " of " + what +
                           ", which this release of cgpu doesn't know",
                       older ? "use a newer version of the module" : "upgrade the package cgpu first");
    };
    if (manifest.abi < upgrade::kOldestEngineAbi || manifest.abi > upgrade::kNewestEngineAbi)
        return unknown(manifest.abi, "the engine's ABI", manifest.abi < upgrade::kOldestEngineAbi);
    if (manifest.pages != wire::kPageVersion)
        return unknown(manifest.pages, "the shared pages", manifest.pages < wire::kPageVersion);
    return std::nullopt;
}

std::optional<Refusal> why_not_this_engine(std::span<const std::byte> engine, const Manifest& manifest,
                                           const std::string& path) {
    const elf::ReadAt image = elf::reader(engine);
    if (const auto why = elf::why_not_loadable(image, engine.size()))
        return refused(Reason::invalid, path, *why, kGetAgain);
    if (sha256(engine) != manifest.sha256)
        return refused(Reason::invalid, path,
                       "its sha256 is not the one in its manifest: it was changed or cut off", kGetAgain);
    const auto exports = elf::exported_symbols(image);
    if (!exports) return refused(Reason::invalid, path, exports.error(), kGetAgain);
    if (!exports->contains(kTableSymbol))
        return refused(Reason::invalid, path,
                       std::string("it exports no ") + kTableSymbol + ", so it is no engine", kGetAgain);
    return std::nullopt;
}

std::string text_of(const std::vector<std::byte>& bytes) {
    std::string text;
    for (const std::byte byte : bytes) text += static_cast<char>(byte);
    return text;
}

tl::expected<RootOwnedFile, Refusal> open_bundle(const fs::path& path) {
    std::error_code failed;
    return RootOwnedFile::open_folder(fs::absolute(path, failed).native());
}

/// The folder's manifest, read and checked to be this folder's.
tl::expected<Bundle, Refusal> read_text(const RootOwnedFile& folder) {
    const auto file = folder.file_in(kManifestName);
    if (!file) return tl::unexpected(file.error());
    const auto bytes = file->content(kMaxManifest);
    if (!bytes) return tl::unexpected(bytes.error());
    Bundle bundle{{}, text_of(*bytes), {}};
    const auto manifest = parse_manifest(bundle.manifest_text);
    if (!manifest) return model::refuse(Reason::invalid, file->path(), manifest.error(), kGetAgain);
    bundle.manifest = *manifest;
    const std::string version = manifest->version.str();
    if (fs::path(folder.path()).filename() != version)
        return model::refuse(Reason::invalid, folder.path(),
                             "it holds version " + version + ", which its name doesn't say",
                             "rename it to " + version);
    return bundle;
}

}  // namespace

tl::expected<Bundle, Refusal> read_bundle(const fs::path& path) {
    const auto folder = open_bundle(path);
    if (!folder) return tl::unexpected(folder.error());
    if (const auto why = why_not_roots(*folder)) return tl::unexpected(*why);
    auto bundle = read_text(*folder);
    if (!bundle) return bundle;
    if (const auto why = why_not_known(bundle->manifest, folder->path())) return tl::unexpected(*why);
    const auto file = folder->file_in(bundle->manifest.engine);
    if (!file) return tl::unexpected(file.error());
    auto engine = file->content(kMaxEngine);
    if (!engine) return tl::unexpected(engine.error());
    if (const auto why = why_not_this_engine(*engine, bundle->manifest, file->path()))
        return tl::unexpected(*why);
    bundle->engine = std::move(*engine);
    return bundle;
}

tl::expected<Manifest, Refusal> read_manifest(const fs::path& path) {
    return open_bundle(path).and_then(read_text).map([](const Bundle& bundle) { return bundle.manifest; });
}

tl::expected<Manifest, Refusal> verify(const fs::path& folder) {
    return read_bundle(folder).map([](const Bundle& bundle) { return bundle.manifest; });
}

std::vector<Version> versions_in(const fs::path& modules) {
    std::vector<Version> versions;
    std::error_code failed;
    for (fs::directory_iterator entry(modules, failed), end; !failed && entry != end; entry.increment(failed))
        if (const auto version = Version::parse(entry->path().filename().native()))
            versions.push_back(*version);
    std::sort(versions.begin(), versions.end());
    return versions;
}

}  // namespace cgpu::bundle
