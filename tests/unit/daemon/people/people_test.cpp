#include "daemon/people/people.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

#include "daemon/people/answer/answer.hpp"
#include "tests/unit/daemon/support/app_fakes.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

namespace cgpu::people {
namespace {

using app::Person;

TEST(PeopleAnswer, IsReadAsItWasWritten) {
    for (const Person& person : {Person{}, Person{0, "root", {{0, "root"}}}, Person{1000, "", {}},
                                 Person{1000, "alice", {{1000, "alice"}, {20, "domain users"}, {7, ""}}}})
        EXPECT_EQ(read_answer(write_answer(person)), person);
}

TEST(PeopleAnswer, IsRefusedIfItIsCutOrStrange) {
    const std::string whole = write_answer({1000, "alice", {{20, "students"}}});
    for (std::size_t at = 0; at < whole.size(); ++at) {
        if (whole.substr(0, at) == write_answer({1000, "alice", {}})) continue;
        EXPECT_FALSE(read_answer(whole.substr(0, at))) << at;
    }
    using namespace std::string_literals;
    for (const auto& text : {"x\0alice\0"s, "1000\0alice\0-1\0a\0"s, "99999999999\0alice\0"s, "1000\0"s})
        EXPECT_FALSE(read_answer(text));
}

class PeopleTest : public ::testing::Test {
  protected:
    std::string script(const std::string& text) {
        const auto path = folder_.path() / "program";
        std::ofstream(path) << "#!/bin/sh\n" << text;
        chmod(path.c_str(), 0755);
        return path;
    }
    app::Result<Person> ask(People& people, const app::PersonWord& who) {
        std::optional<app::Result<Person>> found;
        people.look_up(who, [&](const app::Result<Person>& person) { found = person; });
        loop_.advance(1);
        for (int i = 0; i < 10'000 && !found; ++i) loop_.look();
        if (found) return *found;
        loop_.advance(People::kPatience);
        return found ? *found : model::refuse(model::Refusal::Reason::invalid, "it", "no answer", "wait");
    }

    test::TempFolder folder_;
    app::test::FakeLoop loop_;
};

TEST_F(PeopleTest, AsksTheNameServiceOfThisMachine) {
    People people(loop_, CGPU_TEST_PEOPLE);
    const auto root = ask(people, std::uint32_t{0});
    ASSERT_TRUE(root) << root.error().text;
    EXPECT_EQ(root->name, "root");
    ASSERT_FALSE(root->groups.empty());
    EXPECT_EQ(root->groups.front().name, "root");
    EXPECT_EQ(ask(people, std::string("root"))->user, 0U);
    const auto nobody = ask(people, std::uint32_t{3'000'000'000U});
    ASSERT_TRUE(nobody);
    EXPECT_EQ(nobody->user, 3'000'000'000U);
    EXPECT_EQ(nobody->name, "");
    EXPECT_FALSE(ask(people, std::string("no-such-user"))->user);
    EXPECT_FALSE(ask(people, model::kNobody)) << "an id that stands for none";
}

TEST_F(PeopleTest, WaitsForNoNameServiceForLong) {
    People people(loop_, script("echo $$ >" + (folder_.path() / "pid").string() + "\nexec sleep 1000\n"));
    std::optional<app::Result<Person>> found;
    people.look_up(std::uint32_t{1000}, [&](const app::Result<Person>& person) { found = person; });
    EXPECT_FALSE(found);
    loop_.advance(People::kPatience - 1);
    EXPECT_FALSE(found);
    loop_.advance(1);
    ASSERT_TRUE(found);
    ASSERT_FALSE(*found);
    EXPECT_NE(found->error().text.find("user id 1000: the name service doesn't answer. Try: "),
              std::string::npos)
        << found->error().text;
}

TEST_F(PeopleTest, AnswersAllWhoAskTheSameAtOnce) {
    const auto count = folder_.path() / "count";
    People people(loop_, script("echo x >>" + count.string() + "\nprintf '7\\0bob\\0000\\0'\n"));
    int answered = 0;
    for (int i = 0; i < 100; ++i)
        people.look_up(std::uint32_t{7}, [&](const app::Result<Person>& person) {
            answered += person && person->name == "bob" ? 1 : 0;
        });
    for (int i = 0; i < 1000 && answered < 100; ++i) loop_.look();
    EXPECT_EQ(answered, 100);
    EXPECT_EQ(std::filesystem::file_size(count), 2U) << "the name service is asked once";
}

TEST_F(PeopleTest, CollectsTheEndOfNoChildThatItMayStillKill) {
    People people(loop_, script("exit 0\n"));
    people.look_up(std::uint32_t{1}, [](const auto&) {});
    siginfo_t ended{};
    ASSERT_EQ(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT), 0);
    people.look_up(std::uint32_t{2}, [](const auto&) {});
    EXPECT_EQ(kill(ended.si_pid, 0), 0) << "its number could be another process's by now";
}

TEST_F(PeopleTest, SaysWhatIsWrong) {
    People missing(loop_, folder_.path() / "none");
    EXPECT_NE(ask(missing, std::uint32_t{1}).error().text.find("can't be started"), std::string::npos);
    People failing(loop_, script("exit 1\n"));
    EXPECT_NE(ask(failing, std::uint32_t{1}).error().text.find("has failed"), std::string::npos);
    People raving(loop_, script("yes\n"));
    EXPECT_NE(ask(raving, std::uint32_t{1}).error().text.find("has failed"), std::string::npos);
}

TEST_F(PeopleTest, AsksAFewAtOnceAndAnswersAll) {
    People people(loop_, CGPU_TEST_PEOPLE);
    int answered = 0;
    for (std::uint32_t id = 0; id < 3 * People::kMostAtOnce; ++id)
        people.look_up(id, [&](const app::Result<Person>& person) { answered += person ? 1 : 0; });
    for (int i = 0; i < 1000 && answered < 3 * static_cast<int>(People::kMostAtOnce); ++i) loop_.look();
    EXPECT_EQ(answered, 3 * static_cast<int>(People::kMostAtOnce));
    people.look_up(std::uint32_t{1}, [](const auto&) { FAIL() << "its asker has gone"; });
}

}  // namespace
}  // namespace cgpu::people
