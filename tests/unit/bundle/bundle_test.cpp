#include "bundle/bundle.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "tests/unit/bundle/bundles.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::bundle {
namespace {

namespace fs = std::filesystem;
using Reason = model::Refusal::Reason;

constexpr upgrade::Version kVersion{1, 2, 3};

/// Needs root, because bundles must belong to root.
class BundleFolder : public testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "takes root";
        folder_ = make_bundle(modules_, kVersion);
        engine_ = folder_ / upgrade::engine_name(kVersion);
        manifest_ = folder_ / kManifestName;
    }
    /// The refusal's text after the folder of modules; empty if it is not refused.
    std::string said(const fs::path& folder) {
        const auto verified = verify(folder);
        if (verified) return {};
        reason_ = verified.error().reason;
        std::string text = verified.error().text;
        const std::string prefix = modules_.native() + "/";
        for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
            text.erase(at, prefix.size());
        return text;
    }
    std::string said() { return said(folder_); }
    /// With a manifest that fits this content.
    void replace_engine(const std::string& content) { make_bundle(modules_, kVersion, content); }
    /// The engine with one field of its ELF header changed, and a manifest for it.
    template <class T>
    void change_header(std::size_t offset, T value) {
        std::string content = text_in(CGPU_TEST_ENGINE);
        std::memcpy(content.data() + offset, &value, sizeof value);
        replace_engine(content);
    }
    void change_manifest(const std::string& piece, const std::string& other) {
        std::string text = text_in(manifest_);
        const auto at = text.find(piece);
        ASSERT_NE(at, std::string::npos) << piece;
        write_file(manifest_, text.replace(at, piece.size(), other));
    }

    client::TempRoot root_;
    fs::path modules_ = root_.at("/modules");
    fs::path folder_;
    fs::path engine_;
    fs::path manifest_;
    Reason reason_{};
};

TEST_F(BundleFolder, IsTakenAsItShouldBe) {
    const auto verified = verify(folder_);
    ASSERT_TRUE(verified) << verified.error().text;
    EXPECT_EQ(*verified, fitting_manifest(kVersion, text_in(CGPU_TEST_ENGINE)));
    EXPECT_EQ(said(folder_ / ""), "");
}

TEST_F(BundleFolder, IsNamedFromTheCurrentFolderToo) {
    const fs::path before = fs::current_path();
    fs::current_path(modules_);
    EXPECT_EQ(said("1.2.3"), "");
    EXPECT_EQ(said("./1.2.3/."), "");
    fs::current_path(folder_);
    EXPECT_EQ(said("."), "");
    fs::current_path(before);
}

TEST_F(BundleFolder, MayHaveTheFrontsInIt) {
    write_file(folder_ / "libcgpu-cuda.so.1.2.3", "a front");
    EXPECT_EQ(said(), "");
}

TEST_F(BundleFolder, GivesTheBytesThatWereJudged) {
    const auto bundle = read_bundle(folder_);
    ASSERT_TRUE(bundle);
    EXPECT_EQ(sha256(bundle->engine), bundle->manifest.sha256);
    EXPECT_EQ(bundle->manifest_text, text_in(manifest_));
}

TEST_F(BundleFolder, MissingPartsAreNamed) {
    EXPECT_EQ(said(modules_ / "9.9.9"), "9.9.9: it is not there. Try: cgpuctl module list.");
    EXPECT_EQ(reason_, Reason::not_found);
    fs::remove(engine_);
    EXPECT_EQ(said(),
              "1.2.3/libcgpu-engine.so.1.2.3: it is not there. Try: get this version again from where it was "
              "released.");
    fs::remove(manifest_);
    EXPECT_EQ(
        said(),
        "1.2.3/manifest.json: it is not there. Try: get this version again from where it was released.");
}

TEST_F(BundleFolder, TamperedEnginesAreRefused) {
    std::string content = text_in(engine_);
    content[content.size() / 2] ^= 1;
    write_file(engine_, content);
    EXPECT_EQ(
        said(),
        "1.2.3/libcgpu-engine.so.1.2.3: its sha256 is not the one in its manifest: it was changed or cut "
        "off. Try: get this version again from where it was released.");
    EXPECT_EQ(reason_, Reason::invalid);
}

TEST_F(BundleFolder, TruncatedEnginesAreRefusedAtEveryLength) {
    const std::string whole = text_in(engine_);
    for (const std::size_t length : {whole.size() - 1, whole.size() / 2, std::size_t{64}, std::size_t{63},
                                     std::size_t{4}, std::size_t{0}}) {
        write_file(engine_, whole.substr(0, length));
        EXPECT_NE(said(), "") << length;
    }
}

TEST_F(BundleFolder, TruncatedEnginesAreRefusedEvenWithAManifestOfTheirs) {
    const std::string whole = text_in(CGPU_TEST_ENGINE);
    replace_engine(whole.substr(0, 4096));
    EXPECT_EQ(said(),
              "1.2.3/libcgpu-engine.so.1.2.3: it is cut off: it has segments that reach beyond its end. Try: "
              "get this "
              "version again from where it was released.");
    for (std::size_t length = 1; length < 400; length += 7) {
        replace_engine(whole.substr(0, length));
        EXPECT_NE(said(), "") << length;
    }
    replace_engine("");
    EXPECT_NE(said().find("it is empty"), std::string::npos) << said();
}

TEST_F(BundleFolder, EnginesOfOtherMachinesAreRefused) {
    change_header(offsetof(Elf64_Ehdr, e_machine), Elf64_Half{EM_PPC64});
    EXPECT_NE(said().find("it is for machine 21, and this machine is"), std::string::npos) << said();
    change_header(EI_CLASS, static_cast<unsigned char>(ELFCLASS32));
    EXPECT_NE(said().find("it is not of 64 bits"), std::string::npos) << said();
    change_header(EI_DATA, static_cast<unsigned char>(ELFDATA2MSB));
    EXPECT_NE(said().find("it is not little endian"), std::string::npos) << said();
    change_header(offsetof(Elf64_Ehdr, e_type), Elf64_Half{ET_EXEC});
    EXPECT_NE(said().find("it is no shared library"), std::string::npos) << said();
}

TEST_F(BundleFolder, ManifestsOfOtherMachinesAreRefused) {
    change_manifest(std::string(elf::this_machine()), "sparc64");
    EXPECT_NE(said().find("it is for \"sparc64\", and this machine is"), std::string::npos) << said();
    EXPECT_EQ(reason_, Reason::unsupported);
}

TEST_F(BundleFolder, UnknownTablesAndPagesAreRefused) {
    const std::string good = text_in(manifest_);
    change_manifest("\"abi\": " + std::to_string(upgrade::kNewestEngineAbi), "\"abi\": 99");
    EXPECT_EQ(said(),
              "1.2.3: it has version 99 of the engine's ABI, which this release of cgpu doesn't know. Try: "
              "upgrade the package cgpu first.");
    EXPECT_EQ(reason_, Reason::unsupported);
    write_file(manifest_, good);
    const std::string older = std::to_string(upgrade::kOldestEngineAbi - 1);
    change_manifest("\"abi\": " + std::to_string(upgrade::kNewestEngineAbi), "\"abi\": " + older);
    EXPECT_EQ(said(), "1.2.3: it has version " + older +
                          " of the engine's ABI, which this release of cgpu doesn't know. Try: use a newer "
                          "version of the module.");
    write_file(manifest_, good);
    change_manifest("\"pages\": " + std::to_string(wire::kPageVersion), "\"pages\": 99");
    EXPECT_NE(said().find("version 99 of the shared pages"), std::string::npos) << said();
}

TEST_F(BundleFolder, OtherLibrariesAreNoEngines) {
    std::string content = text_in(CGPU_TEST_ENGINE);
    for (auto at = content.find("cgpu_engine_table"); at != std::string::npos;
         at = content.find("cgpu_engine_table"))
        content[at] = 'C';
    replace_engine(content);
    EXPECT_EQ(
        said(),
        "1.2.3/libcgpu-engine.so.1.2.3: it exports no cgpu_engine_table, so it is no engine. Try: get this "
        "version again from where it was released.");
}

TEST_F(BundleFolder, BrokenManifestsAreRefused) {
    write_file(manifest_, "{");
    EXPECT_EQ(said(),
              "1.2.3/manifest.json: it is no whole JSON object. Try: get this version again from where it "
              "was released.");
    write_file(manifest_, std::string(1 << 20, ' '));
    EXPECT_NE(said().find("it has more than 16384 bytes"), std::string::npos) << said();
    write_file(manifest_, "");
    EXPECT_NE(said().find("it is empty"), std::string::npos) << said();
}

TEST_F(BundleFolder, EnginesHaveABoundedSize) {
    fs::resize_file(engine_, kMaxEngine + 1);
    EXPECT_NE(said().find("it has more than"), std::string::npos) << said();
}

TEST_F(BundleFolder, ItsNameIsItsVersion) {
    fs::rename(folder_, modules_ / "1.2.4");
    EXPECT_EQ(said(modules_ / "1.2.4"),
              "1.2.4: it holds version 1.2.3, which its name doesn't say. Try: rename it to 1.2.3.");
}

TEST_F(BundleFolder, WhatOthersCanWriteIsRefused) {
    for (const fs::path& path : {engine_, manifest_, folder_, modules_}) {
        const auto before = fs::status(path).permissions();
        fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
        EXPECT_NE(said().find(path.filename().native() + ": its group can write it"), std::string::npos)
            << path << said();
        EXPECT_EQ(reason_, Reason::not_permitted);
        fs::permissions(path, before);
        fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
        EXPECT_NE(said().find("everybody can write it"), std::string::npos) << path << said();
        fs::permissions(path, before);
        EXPECT_EQ(said(), "");
    }
}

TEST_F(BundleFolder, TheStickyBitHelpsOnlyAboveIt) {
    fs::permissions(modules_, fs::perms(01777));
    EXPECT_EQ(said(), "");
    fs::permissions(folder_, fs::perms(01777));
    EXPECT_NE(said(), "");
}

TEST_F(BundleFolder, WhatIsNotRootsIsRefused) {
    for (const fs::path& path : {engine_, manifest_, folder_, modules_}) {
        ASSERT_EQ(chown(path.c_str(), 65534, 0), 0);
        EXPECT_NE(said().find("it belongs to user 65534"), std::string::npos) << path << said();
        EXPECT_EQ(reason_, Reason::not_permitted);
        ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
        EXPECT_EQ(said(), "");
    }
}

TEST_F(BundleFolder, EverythingInItIsLookedAt) {
    const fs::path front = folder_ / "libcgpu-cuda.so.1.2.3";
    write_file(front, "a front");
    fs::permissions(front, fs::perms(0664));
    EXPECT_NE(said().find("libcgpu-cuda.so.1.2.3: its group can write it"), std::string::npos) << said();
    fs::remove(front);
    fs::create_symlink("/etc/hostname", front);
    EXPECT_NE(said().find("libcgpu-cuda.so.1.2.3: it is a symbolic link"), std::string::npos) << said();
    fs::remove(front);
    ASSERT_EQ(mkfifo(front.c_str(), 0644), 0);
    EXPECT_NE(said().find("libcgpu-cuda.so.1.2.3: it is no regular file"), std::string::npos) << said();
    fs::remove(front);
    fs::create_directory(front);
    EXPECT_NE(said().find("libcgpu-cuda.so.1.2.3: it is no regular file"), std::string::npos) << said();
}

TEST_F(BundleFolder, LinksAreRefused) {
    for (const fs::path& path : {engine_, manifest_, folder_, modules_}) {
        const fs::path aside = path.native() + ".aside";
        fs::rename(path, aside);
        fs::create_symlink(aside, path);
        EXPECT_NE(said().find("symbolic link"), std::string::npos) << path << said();
        EXPECT_EQ(reason_, Reason::not_permitted);
        fs::remove(path);
        fs::rename(aside, path);
        EXPECT_EQ(said(), "");
    }
}

TEST_F(BundleFolder, VersionsAreListedInTheirOrder) {
    fs::create_directory(modules_ / "1.10.0");
    fs::create_directory(modules_ / ".add.x1");
    fs::create_directory(modules_ / "1.3");
    write_file(modules_ / "readme", "");
    EXPECT_EQ(versions_in(modules_), (std::vector<upgrade::Version>{{1, 2, 3}, {1, 10, 0}}));
    EXPECT_TRUE(versions_in(modules_ / "none").empty());
}

}  // namespace
}  // namespace cgpu::bundle
