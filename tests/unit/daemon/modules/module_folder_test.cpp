#include "daemon/modules/module_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/bundle/bundles.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::modules {
namespace {

using Reason = model::Refusal::Reason;

/// Needs root, because bundles must belong to root.
class Folder : public testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "takes root";
    }
    std::vector<std::string> listed() {
        std::vector<std::string> versions;
        for (const upgrade::Manifest& manifest : modules_.list()) versions.push_back(manifest.version.str());
        return versions;
    }

    test::TempFolder temp_;
    std::filesystem::path folder_ = temp_ / "module";
    ModuleFolder modules_{folder_};
};

TEST_F(Folder, ListsWhatHasAManifestByRisingVersion) {
    EXPECT_TRUE(listed().empty());
    bundle::make_bundle(folder_, {0, 10, 0});
    bundle::make_bundle(folder_, {0, 9, 0});
    std::filesystem::create_directory(folder_ / "0.8.0");
    EXPECT_EQ(listed(), (std::vector<std::string>{"0.9.0", "0.10.0"}));
}

TEST_F(Folder, AVersionThatIsAddedIsThereAtOnce) {
    EXPECT_EQ(modules_.verified({1, 0, 0}).error().reason, Reason::not_found);
    bundle::make_bundle(folder_, {1, 0, 0});
    const auto verified = modules_.verified({1, 0, 0});
    ASSERT_TRUE(verified) << verified.error().text;
    EXPECT_EQ(verified->version, (upgrade::Version{1, 0, 0}));
}

TEST_F(Folder, ASpoiltEngineIsListedButNotVerified) {
    const auto bundle = bundle::make_bundle(folder_, {1, 0, 0});
    bundle::write_file(bundle / upgrade::engine_name({1, 0, 0}), "no engine");
    EXPECT_EQ(listed(), std::vector<std::string>{"1.0.0"});
    EXPECT_EQ(modules_.verified({1, 0, 0}).error().reason, Reason::invalid);
}

}  // namespace
}  // namespace cgpu::modules
