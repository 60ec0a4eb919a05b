#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "bundle/root_owned_file.hpp"
#include "client/cgpuctl/modules/module_actions.hpp"
#include "client/modules/remove_bundle.hpp"
#include "files/descriptor.hpp"
#include "tests/unit/bundle/bundles.hpp"
#include "tests/unit/client/support/fake_node.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::cgpuctl {
namespace {

namespace fs = std::filesystem;
using Kind = client::ClientError::Kind;

/// Needs root, because bundles must belong to root. The fake daemon has 1.2.0 in force.
class ModuleVerb : public testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "takes root";
        fs::create_directory(modules_);
        fs::permissions(modules_, fs::perms(0755));
        input_.folder = modules_;
    }
    client::Result<void> call(const std::string& action, const std::string& what = "") {
        input_.what = what;
        screen_.out.str("");
        screen_.err.str("");
        auto terminal = screen_.terminal();
        if (action == "list") return module_list(input_, node_, terminal);
        auto* const verb = action == "show"     ? &module_show
                           : action == "add"    ? &module_add
                           : action == "remove" ? &module_remove
                                                : &module_verify;
        return verb(input_, node_, terminal);
    }
    nlohmann::json json_of(const std::string& action, const std::string& what = "") {
        input_.json = true;
        const auto done = call(action, what);
        input_.json = false;
        return nlohmann::json::parse(screen_.out.str());
    }
    std::string error_of(const std::string& action, const std::string& what = "") {
        const auto done = call(action, what);
        if (done) return {};
        kind_ = done.error().kind;
        return done.error().text;
    }
    static std::vector<std::string> names_in(const fs::path& folder) {
        return bundle::RootOwnedFile::open_folder(folder).value().names().value();
    }
    /// What is in the folder of modules.
    std::string found() const {
        std::string names;
        for (const std::string& name : names_in(modules_)) names += name + " ";
        return names;
    }
    fs::path offered(const upgrade::Version& version = {1, 3, 0}) {
        return bundle::make_bundle(elsewhere_, version);
    }

    client::Removal of_1_3_0() const {
        client::Removal removal;
        removal.version = {1, 3, 0};
        removal.in_force = "1.2.0";
        removal.modules = modules_;
        removal.fronts = root_.at("/front");
        return removal;
    }

    client::TempRoot root_;
    fs::path modules_ = root_.at("/module");
    fs::path elsewhere_ = root_.at("/elsewhere");
    FakeNode node_;
    Screen screen_;
    ModuleInput input_;
    Kind kind_{};
};

TEST_F(ModuleVerb, AddCopiesTheEngineAndItsManifest) {
    const auto offer = offered();
    bundle::write_file(offer / "libcgpu-cuda.so.1.3.0", "a front, which the manifest vouches for nowhere");
    ASSERT_EQ(error_of("add", offer), "");
    EXPECT_EQ(found(), "1.3.0 ");
    EXPECT_EQ(names_in(modules_ / "1.3.0"),
              (std::vector<std::string>{"libcgpu-engine.so.1.3.0", "manifest.json"}));
    EXPECT_TRUE(bundle::verify(modules_ / "1.3.0"));
    EXPECT_EQ(bundle::text_in(modules_ / "1.3.0/libcgpu-engine.so.1.3.0"), bundle::text_in(CGPU_TEST_ENGINE));
}

TEST_F(ModuleVerb, AddDoesntCareAboutTheUmask) {
    const mode_t before = umask(0);
    EXPECT_EQ(error_of("add", offered()), "");
    umask(before);
    EXPECT_TRUE(bundle::verify(modules_ / "1.3.0"));
}

TEST_F(ModuleVerb, AddTakesATarFile) {
    const auto offer = offered();
    for (const char* flags : {"-cf", "-czf"}) {
        fs::permissions(offer / "manifest.json", fs::perms(0666));
        const std::string tar = root_.at("/bundle.tar");
        ASSERT_EQ(std::system(("tar -C " + elsewhere_.native() + " " + flags + " " + tar + " 1.3.0").c_str()),
                  0);
        fs::permissions(tar, fs::perms(0644));
        ASSERT_EQ(error_of("add", tar), "");
        EXPECT_TRUE(bundle::verify(modules_ / "1.3.0"));
        EXPECT_EQ(found(), "1.3.0 ");
        fs::remove_all(modules_ / "1.3.0");
    }
}

TEST_F(ModuleVerb, AddRefusesOtherArchives) {
    const std::string tar = root_.at("/bundle.tar");
    bundle::write_file(tar, "no archive");
    EXPECT_NE(error_of("add", tar).find("it is no archive of one folder"), std::string::npos);
    EXPECT_EQ(kind_, Kind::refused);
    offered({1, 3, 0});
    offered({1, 4, 0});
    ASSERT_EQ(std::system(("tar -C " + elsewhere_.native() + " -cf " + tar + " 1.3.0 1.4.0").c_str()), 0);
    EXPECT_NE(error_of("add", tar).find("it is no archive of one folder"), std::string::npos);
    ASSERT_EQ(std::system(("tar -C " + elsewhere_.native() + "/1.3.0 -cf " + tar + " .").c_str()), 0);
    EXPECT_NE(error_of("add", tar).find("it is no archive of one folder"), std::string::npos);
    ASSERT_EQ(chown(tar.c_str(), 65534, 65534), 0);
    EXPECT_NE(error_of("add", tar).find("it belongs to user 65534"), std::string::npos);
    EXPECT_EQ(found(), "");
}

TEST_F(ModuleVerb, AddTakesNothingOutOfAnArchivesLinks) {
    const auto offer = offered();
    const fs::path engine = offer / upgrade::engine_name({1, 3, 0});
    fs::rename(engine, root_.at("/engine"));
    fs::create_symlink(root_.at("/engine"), engine);
    const std::string tar = root_.at("/bundle.tar");
    ASSERT_EQ(std::system(("tar -C " + elsewhere_.native() + " -cf " + tar + " 1.3.0").c_str()), 0);
    EXPECT_NE(error_of("add", tar).find("symbolic link"), std::string::npos);
    EXPECT_EQ(found(), "");
}

TEST_F(ModuleVerb, AddNeverGoesOverAVersion) {
    bundle::make_bundle(modules_, {1, 3, 0});
    const auto before = fs::last_write_time(modules_ / "1.3.0/manifest.json");
    EXPECT_EQ(error_of("add", offered()), (modules_ / "1.3.0").native() +
                                              ": this version is there already, and a version never changes. "
                                              "Try: cgpuctl module verify 1.3.0.");
    EXPECT_EQ(kind_, Kind::refused);
    EXPECT_EQ(fs::last_write_time(modules_ / "1.3.0/manifest.json"), before);
    EXPECT_EQ(found(), "1.3.0 ");
}

TEST_F(ModuleVerb, AddRefusesWhatVerifyRefuses) {
    const auto offer = offered();
    bundle::write_file(offer / upgrade::engine_name({1, 3, 0}), "no engine");
    EXPECT_NE(error_of("add", offer).find("it is too short for an ELF file"), std::string::npos);
    EXPECT_EQ(kind_, Kind::refused);
    EXPECT_NE(error_of("add", elsewhere_ / "1.4.0").find("it is not there"), std::string::npos);
    EXPECT_EQ(kind_, Kind::not_found);
    EXPECT_EQ(found(), "");
}

TEST_F(ModuleVerb, DryRunsChangeNothing) {
    input_.dry_run = true;
    EXPECT_EQ(error_of("add", offered()), "");
    EXPECT_EQ(found(), "");
    bundle::make_bundle(modules_, {1, 1, 0});
    EXPECT_NE(error_of("add", offered({1, 1, 0})).find("there already"), std::string::npos);
    EXPECT_EQ(found(), "1.1.0 ");
}

TEST_F(ModuleVerb, WhatAKilledOneLeftIsSweptAndNeverListed) {
    fs::create_directories(modules_ / ".cgpuctl.abcdef/1.9.0");
    EXPECT_EQ(json_of("list"), nlohmann::json::array());
    EXPECT_EQ(error_of("add", offered()), "");
    EXPECT_EQ(found(), "1.3.0 ");
}

TEST_F(ModuleVerb, OnlyOneChangesTheFolderAtATime) {
    const Descriptor other(open(modules_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(flock(other.fd(), LOCK_EX), 0);
    EXPECT_NE(error_of("add", offered()).find("another cgpuctl is changing it"), std::string::npos);
    EXPECT_EQ(kind_, Kind::try_again);
}

TEST_F(ModuleVerb, OthersThanRootChangeNothing) {
    const auto offer = offered();
    ASSERT_EQ(seteuid(65534), 0);
    const std::string error = error_of("add", offer);
    ASSERT_EQ(seteuid(0), 0);
    EXPECT_NE(error.find("only root may change which modules are installed"), std::string::npos) << error;
    EXPECT_EQ(kind_, Kind::not_authorized);
}

TEST_F(ModuleVerb, RemoveKeepsTheVersionInForce) {
    bundle::make_bundle(modules_, {1, 2, 0});
    EXPECT_EQ(error_of("remove", "1.2.0"),
              "module 1.2.0: not removed: it is in force. Try: cgpuctl upgrade to another version first.");
    EXPECT_EQ(kind_, Kind::refused);
    EXPECT_EQ(found(), "1.2.0 ");
}

TEST_F(ModuleVerb, RemoveNeedsTheDaemonsWord) {
    bundle::make_bundle(modules_, {1, 3, 0});
    node_.answer = client::fail(Kind::unreachable, "cgpud: it doesn't answer. Try: systemctl start cgpud.");
    EXPECT_NE(error_of("remove", "1.3.0"), "");
    EXPECT_EQ(kind_, Kind::unreachable);
    EXPECT_EQ(found(), "1.3.0 ");
}

/// Everything but the look-up in /proc, which would show this machine's processes.
TEST_F(ModuleVerb, RemoveTakesAwayWhatNothingUses) {
    bundle::make_bundle(modules_, {1, 3, 0});
    client::Removal removal = of_1_3_0();
    removal.dry_run = true;
    ASSERT_TRUE(client::remove_bundle(removal));
    EXPECT_EQ(found(), "1.3.0 ");
    removal.dry_run = false;
    ASSERT_TRUE(client::remove_bundle(removal));
    EXPECT_EQ(found(), "");
    EXPECT_EQ(client::remove_bundle(removal).error().kind, Kind::not_found);
}

TEST_F(ModuleVerb, RemoveKeepsWhatProcessesRun) {
    bundle::make_bundle(modules_, {1, 3, 0});
    client::Removal removal = of_1_3_0();
    removal.users.processes[{1, 3, 0}] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    EXPECT_EQ(
        client::remove_bundle(removal).error().text,
        "module 1.3.0: not removed: processes run it: 1, 2, 3, 4, 5, 6, 7, 8 and 2 more. Try: stop them, "
        "or upgrade them first (cgpuctl upgrade --hot).");
    removal.users = {};
    removal.users.all_seen = false;
    EXPECT_NE(client::remove_bundle(removal).error().text.find("may not be examined"), std::string::npos);
    EXPECT_EQ(found(), "1.3.0 ");
}

TEST_F(ModuleVerb, RemoveKeepsTheFrontsOfNewJobs) {
    const auto folder = bundle::make_bundle(modules_, {1, 3, 0});
    bundle::write_file(folder / "libcgpu-cuda.so.1.3.0", "a front");
    root_.link("/front/libcuda.so.1", "../module/1.3.0/libcgpu-cuda.so.1.3.0");
    const client::Removal removal = of_1_3_0();
    EXPECT_NE(client::remove_bundle(removal).error().text.find("new jobs get its fronts"), std::string::npos);
    EXPECT_EQ(found(), "1.3.0 ");
}

TEST_F(ModuleVerb, ListShowsEveryFolderWithAVersion) {
    bundle::make_bundle(modules_, {1, 2, 0});
    fs::create_directory(modules_ / "1.10.0");
    input_.quiet = true;
    ASSERT_EQ(error_of("list"), "");
    EXPECT_EQ(screen_.out.str(),
              "VERSION  IN FORCE  STATE     HOT FROM  PROCESSES\n"
              "1.2.0    yes       sound     1.2.0     0\n"
              "1.10.0   no        unusable  -         0\n");
    EXPECT_EQ(screen_.err.str(), "");
    input_.quiet = false;
    ASSERT_EQ(error_of("list"), "");
    EXPECT_NE(screen_.err.str().find("1.10.0/manifest.json: it is not there"), std::string::npos);
}

TEST_F(ModuleVerb, ListOffersANewerOne) {
    bundle::make_bundle(modules_, {1, 2, 0});
    bundle::make_bundle(modules_, {1, 3, 0});
    ASSERT_EQ(error_of("list"), "");
    EXPECT_TRUE(screen_.out.str().ends_with(
        "\nmodule 1.3.0 is installed, and 1.2.0 stays in force. Try: cgpuctl upgrade --hot 1.3.0, or --cold "
        "while no instance is there.\n"))
        << screen_.out.str();
}

TEST_F(ModuleVerb, ListNeedsNoDaemon) {
    bundle::make_bundle(modules_, {1, 2, 0});
    node_.answer = client::fail(Kind::unreachable, "cgpud: it doesn't answer. Try: systemctl start cgpud.");
    const auto list = json_of("list");
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0]["version"], "1.2.0");
    EXPECT_TRUE(list[0]["in_force"].is_null());
}

TEST_F(ModuleVerb, ShowSaysWhatTheManifestSays) {
    const auto folder = bundle::make_bundle(modules_, {1, 2, 0});
    const auto shown = json_of("show", "1.2.0");
    EXPECT_EQ(shown["version"], "1.2.0");
    EXPECT_EQ(shown["sound"], true);
    EXPECT_EQ(shown["fault"], "");
    EXPECT_EQ(shown["in_force"], true);
    EXPECT_EQ(shown["path"], folder.native());
    EXPECT_EQ(shown["processes"], nlohmann::json::array());
    EXPECT_EQ(shown["manifest"]["compatible_from"], "1.2.0");
    EXPECT_EQ(shown["manifest"]["engine"], "libcgpu-engine.so.1.2.0");
    EXPECT_EQ(shown["manifest"]["sha256"], bundle::sha256_of(bundle::text_in(CGPU_TEST_ENGINE)));
    EXPECT_EQ(error_of("show", "9.9.9"), "module 9.9.9: it is not installed. Try: cgpuctl module list.");
    EXPECT_EQ(kind_, Kind::not_found);
    EXPECT_NE(error_of("show", "latest"), "");
    EXPECT_EQ(kind_, Kind::usage);
}

TEST_F(ModuleVerb, VerifyLooksAtOneAtAFolderOrAtAll) {
    bundle::make_bundle(modules_, {1, 2, 0});
    EXPECT_EQ(error_of("verify", "1.2.0"), "");
    EXPECT_EQ(screen_.out.str(), "1.2.0: sound\n");
    EXPECT_EQ(error_of("verify", offered()), "");
    EXPECT_EQ(error_of("verify"), "");
    bundle::write_file(bundle::make_bundle(modules_, {1, 1, 0}) / "manifest.json", "{}");
    EXPECT_NE(error_of("verify").find("1.1.0/manifest.json: manifest is not there"), std::string::npos);
    EXPECT_EQ(kind_, Kind::refused);
    EXPECT_EQ(screen_.out.str(), "1.2.0: sound\n");
    const auto all = json_of("verify");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0]["sound"], false);
    EXPECT_TRUE(all[0]["version"].is_null());
    EXPECT_EQ(all[1]["sound"], true);
    EXPECT_EQ(all[1]["version"], "1.2.0");
}

TEST_F(ModuleVerb, AnEmptyFolderIsNothingToVerify) {
    EXPECT_NE(error_of("verify").find("there is no version of the module in it"), std::string::npos);
    EXPECT_EQ(kind_, Kind::not_found);
}

TEST_F(ModuleVerb, WhatIsNotThereIsNamedWithWhatCanBeDone) {
    EXPECT_EQ(error_of("add", "/nonexist"),
              "/nonexist: it is not there. Try: name the folder of a version, or a tar file with one in it.");
    EXPECT_EQ(kind_, Kind::not_found);
    EXPECT_EQ(error_of("verify", "/nonexist"),
              "/nonexist: there is no version, and no folder, of that name. Try: name a version of cgpuctl "
              "module list, or the folder of one.");
    EXPECT_EQ(kind_, Kind::not_found);
}

}  // namespace
}  // namespace cgpu::cgpuctl
