#include <nlohmann/json.hpp>

#include "client/cgpuctl/instances/verbs.hpp"
#include "client/cgpuctl/output/json.hpp"
#include "tests/unit/client/support/verb_bed.hpp"

namespace cgpu::cgpuctl {
namespace {

class Renaming : public VerbTest<RenameInput> {
  protected:
    Renaming() {
        input_.instance = node_.snapshot.instances.front().name;
        input_.name = "train-lr3";
    }
    std::string id() { return node_.snapshot.instances.front().id; }
};

TEST_F(Renaming, GivesItAnotherName) {
    ASSERT_TRUE(call(&rename_verb));
    EXPECT_EQ(node_.calls.back(), "rename " + id() + " train-lr3");
    EXPECT_NE(screen_.out.str().find(": it is called train-lr3 now.\n"), std::string::npos)
        << screen_.out.str();
}

TEST_F(Renaming, ADryRunChangesNothing) {
    input_.dry_run = true;
    ASSERT_TRUE(call(&rename_verb));
    EXPECT_EQ(node_.calls.back(), "rename " + id() + " train-lr3 dry-run");
    EXPECT_NE(screen_.out.str().find("could be called train-lr3; nothing was changed.\n"), std::string::npos);
}

TEST_F(Renaming, AsJson) {
    input_.json = true;
    ASSERT_TRUE(call(&rename_verb));
    EXPECT_EQ(Json::parse(screen_.out.str())["name"], "train-lr3");
    EXPECT_EQ(Json::parse(screen_.out.str())["instance"], id());
}

}  // namespace
}  // namespace cgpu::cgpuctl
