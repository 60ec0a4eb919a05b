#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>

#include "bundle/bundle.hpp"
#include "bundle/manifest_text.hpp"
#include "bundle/sha256.hpp"
#include "core/elf/shared_object.hpp"
#include "core/wire/limits.hpp"

/// Valid bundles, for tests to corrupt. CGPU_TEST_ENGINE is the engine that was built.
namespace cgpu::bundle {

inline std::string text_in(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

inline void write_file(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    std::filesystem::permissions(file, std::filesystem::perms(0644));
}

inline std::string sha256_of(const std::string& text) { return sha256(std::as_bytes(std::span(text))); }

/// The manifest with which the engine file `text` would be shipped.
inline upgrade::Manifest fitting_manifest(const upgrade::Version& version, const std::string& text) {
    return {version,
            upgrade::kNewestEngineAbi,
            wire::kPageVersion,
            wire::kVersion,
            version,
            upgrade::Version(),
            upgrade::engine_name(version),
            sha256_of(text),
            std::string(elf::this_machine())};
}

/// Makes `modules`/VERSION with an engine of that content and its manifest; returns it.
inline std::filesystem::path make_bundle(const std::filesystem::path& modules,
                                         const upgrade::Version& version,
                                         const std::string& engine = text_in(CGPU_TEST_ENGINE)) {
    auto folder = modules / version.str();
    std::filesystem::create_directories(folder);
    std::filesystem::permissions(modules, std::filesystem::perms(0755));
    std::filesystem::permissions(folder, std::filesystem::perms(0755));
    write_file(folder / upgrade::engine_name(version), engine);
    write_file(folder / kManifestName, write_manifest(fitting_manifest(version, engine)));
    return folder;
}

}  // namespace cgpu::bundle
