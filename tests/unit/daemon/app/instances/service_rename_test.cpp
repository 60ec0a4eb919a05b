#include "tests/unit/daemon/app/instances/service_bed.hpp"

namespace cgpu::app::test {
namespace {

using model::Refusal;

class Renaming : public ServiceTest {
  protected:
    Renaming() {
        see_v100();
        caller.user = processes.users[100] = 1000;
        EXPECT_TRUE(create("aaaa", "4"));
    }
    Result<void> rename(const std::string& name, const Options& options = {}) {
        return service->rename(aaaa, name, options);
    }
    std::string name() { return service->node().find_instance(aaaa)->name; }
    Refusal::Reason refusal(const std::string& new_name, const Options& options = {}) {
        const auto refused = rename(new_name, options);
        EXPECT_FALSE(refused) << new_name;
        EXPECT_EQ(name(), "job-aaaa");
        return refused ? Refusal::Reason::storage : refused.error().reason;
    }
    const model::InstanceId aaaa = *model::InstanceId::parse("aaaa");
};

TEST_F(Renaming, IsTold) {
    ASSERT_TRUE(rename("train", {.by = Who{1000, 100}}));
    EXPECT_EQ(name(), "train");
    EXPECT_EQ(store.saved.find_instance(aaaa)->name, "train");
    EXPECT_EQ(publisher.said.back(), "changed aaaa");
    const auto told = recorded.of(EventType::setting_changed);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].message,
              "instance aaaa (train): it was called \"job-aaaa\" before, by user id 1000, process 100");
    EXPECT_EQ(told[0].name, "train");
    ASSERT_TRUE(rename("train"));
    EXPECT_EQ(recorded.of(EventType::setting_changed).size(), 1U) << "nothing has changed";
}

TEST_F(Renaming, ByItsOwnerOnly) {
    EXPECT_EQ(refusal("train", {.only_lowered_of = 1001}), Refusal::Reason::not_permitted);
    EXPECT_TRUE(rename("train", {.only_lowered_of = 1000}));
}

TEST_F(Renaming, NotToWhatIsNoName) {
    EXPECT_EQ(refusal(""), Refusal::Reason::invalid);
    EXPECT_EQ(refusal(std::string(5000, 'x')), Refusal::Reason::invalid);
    ASSERT_TRUE(create("bbbb", "4"));
    EXPECT_EQ(refusal("bbbb"), Refusal::Reason::exists) << "who says that means the other one";
    EXPECT_TRUE(rename("job-bbbb")) << "two may have one name";
}

TEST_F(Renaming, ADryRunChangesNothing) {
    ASSERT_TRUE(rename("train", {.dry_run = true}));
    EXPECT_EQ(name(), "job-aaaa");
    EXPECT_TRUE(recorded.of(EventType::setting_changed).empty());
}

TEST_F(Renaming, AContainerHasItsEnginesName) {
    processes.living.insert(100);
    ASSERT_TRUE(service->create_instance({"cccc", "web", {{"CGPU_MEM", "1GiB"}}, caller, {}, {"image"}}));
    const auto refused = service->rename(*model::InstanceId::parse("cccc"), "db", {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, Refusal::Reason::unsupported);
}

}  // namespace
}  // namespace cgpu::app::test
