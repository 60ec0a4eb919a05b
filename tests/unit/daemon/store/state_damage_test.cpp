#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "daemon/store/base/atomic_file.hpp"
#include "daemon/store/state_file.hpp"
#include "tests/unit/daemon/store/saved_nodes.hpp"
#include "tests/unit/daemon/support/temp_folder.hpp"

/// A state that is damaged on its disk, and what is taken instead.
namespace cgpu::store {
namespace {

namespace fs = std::filesystem;
using namespace cgpu::test;
using model::Node;

/// A bit of each byte in turn: of the file that is loaded, and of the former one.
TEST(StateDamage, AWrongBitIsNeverServed) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_TRUE(file.save(full_node()).has_value());
    const auto whole = read_text(file.path());
    const auto former = read_text(spare_of(file.path()));
    for (std::size_t at = 0; at < whole.size(); ++at) {
        auto text = whole;
        text[at] = static_cast<char>(text[at] ^ (1 << at % 8));
        write_text(file.path(), text);
        write_text(spare_of(file.path()), former);
        const auto state = StateFile(folder.path()).load();
        ASSERT_TRUE(state) << at << ": " << state.error().text;
        // Behind the document there is nothing that could be wrong.
        if (at > whole.rfind('}') && state->node == full_node()) continue;
        ASSERT_EQ(state->node, v100()) << at;
        ASSERT_EQ(read_text(file.path()), former);
        ASSERT_EQ(read_text(folder / "state.json.damaged"), text);
        ASSERT_FALSE(fs::exists(spare_of(file.path())));
    }
}

TEST(StateDamage, ADamagedOneOfWhichTheFormerIsDamagedTooIsRefusedAndKept) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_TRUE(file.save(full_node()).has_value());
    const auto cut = read_text(file.path()).substr(0, 700);
    write_text(file.path(), cut);
    write_text(spare_of(file.path()), std::string(2048, '\0'));
    const auto loaded = StateFile(folder.path()).load();
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().text.find(file.path().string()), std::string::npos);
    EXPECT_NE(loaded.error().text.find("it is cut off there"), std::string::npos) << "of the newest";
    EXPECT_EQ(read_text(file.path()), cut);
    EXPECT_FALSE(StateFile(folder.path()).check());
}

/// Whoever begins anew removes it; it may as well be lost.
TEST(StateDamage, OneThatIsMissingBeginsAnewAndItsFormerStateIsKept) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_TRUE(file.save(full_node()).has_value());
    fs::remove(file.path());
    EXPECT_EQ(StateFile(folder.path()).load()->node, Node{});
    // Lost again, what was kept first has more of what people had set.
    StateFile again(folder.path());
    ASSERT_TRUE(again.load());
    ASSERT_TRUE(again.save(Node{}).has_value());
    ASSERT_TRUE(again.save(Node{}).has_value());
    fs::remove(file.path());
    EXPECT_EQ(StateFile(folder.path()).load()->node, Node{});
    fs::rename(folder / "state.json.former", file.path());
    EXPECT_EQ(StateFile(folder.path()).load()->node, v100());
    // What is no state isn't recommended.
    fs::remove(file.path());
    write_text(spare_of(file.path()), "{");
    EXPECT_EQ(StateFile(folder.path()).load()->node, Node{});
    EXPECT_FALSE(fs::exists(folder / "state.json.former"));
}

TEST(StateDamage, ACheckSaysNoMoreThanThatTheFormerStateWouldBeTaken) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_TRUE(file.save(full_node()).has_value());
    write_text(file.path(), "{");
    EXPECT_TRUE(StateFile(folder.path()).check());
    EXPECT_EQ(read_text(file.path()), "{") << "nothing is changed";
}

/// A crash between the steps of taking back leaves either the damaged file with the former one beside it, or
/// the other way round.
TEST(StateDamage, ATakingBackThatWasInterruptedGoesOn) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    write_text(spare_of(file.path()), "damaged");
    EXPECT_EQ(StateFile(folder.path()).load()->node, v100());
    StateFile again(folder.path());
    ASSERT_TRUE(again.load());
    ASSERT_TRUE(again.save(full_node()).has_value());
    EXPECT_EQ(StateFile(folder.path()).load()->node, full_node());
}

/// Whoever has gone back to an older cgpud, or on to a newer one, has not damaged anything.
TEST(StateDamage, OfAnotherVersionIsRefusedAndNotReplacedByTheFormer) {
    const TempFolder folder;
    StateFile file(folder.path());
    ASSERT_TRUE(file.save(v100()).has_value());
    ASSERT_TRUE(file.save(full_node()).has_value());
    const std::string newer = "{\"version\": 99}";
    write_text(file.path(), newer);
    EXPECT_FALSE(StateFile(folder.path()).load());
    EXPECT_EQ(read_text(file.path()), newer);
}

/// Each save takes the lines of the instances that it hasn't changed from the one before.
TEST(StateDamage, ChangesOneAfterTheOtherAreWrittenAsTheyWouldBeAnew) {
    const TempFolder folder;
    StateFile file(folder.path());
    Node node = v100();
    const auto save = [&] {
        ASSERT_TRUE(file.save(node).has_value());
        const auto text = read_text(file.path());
        std::string once = write_state({node, {}});
        EXPECT_EQ(text.substr(0, once.size() - 1), once.substr(0, once.size() - 1));
        EXPECT_EQ(StateFile(folder.path()).load()->node, node);
    };
    for (const char* id : {"b1", "a1", "c1"}) {
        auto made = instance(id, {quota(0, 1)});
        made.name = "web";
        made.creator = 1000;
        ASSERT_TRUE(node.add_instance(made).has_value());
        save();
    }
    const auto middle = *model::InstanceId::parse("b1");
    const auto uuid = node.gpus().front().uuid;
    ASSERT_TRUE(node.set_weight(middle, uuid, 2).has_value());
    save();
    ASSERT_TRUE(node.keep(middle, uuid, {std::nullopt, 2, std::nullopt}).has_value());
    save();
    ASSERT_TRUE(node.remove_instance(middle).has_value());
    save();
    ASSERT_TRUE(node.add_instance(instance("b1", {quota(0, 3)})).has_value());
    save();
}

}  // namespace
}  // namespace cgpu::store
