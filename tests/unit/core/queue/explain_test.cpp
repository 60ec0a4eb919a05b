#include "core/queue/explain.hpp"

#include "tests/unit/core/queue/queue_line.hpp"

namespace cgpu::queue {
namespace {

using test::Line;
using test::wait_of;
using test::waiting;

std::string sentence(const Line& line, Ticket ticket) {
    return explain(wait_of(line.next(), ticket), line.node,
                   [](Ticket other) { return "number " + std::to_string(other); });
}

TEST(Explain, NamesWhatEachGpuLacks) {
    Line line{.node = test::node({test::gpu(0, 16130), test::gpu(1, 16130)})};
    line.run("a", 0, 12000);
    line.run("b", 1, 14000);
    const auto ticket = line.queue.add(waiting(8000));
    EXPECT_EQ(
        sentence(line, ticket),
        "GPU 0 has 4130MiB free, and 8000MiB are needed; GPU 1 has 2130MiB free, and 8000MiB are needed");
}

TEST(Explain, NamesWhoComesFirst) {
    Line line{.node = test::v100()};
    line.run("a", 0, 12000);
    const auto first = line.queue.add(waiting(8000));
    const auto second = line.queue.add(waiting(2000));
    EXPECT_EQ(sentence(line, second),
              "number " + std::to_string(first) + " comes first, and this one might delay it");
}

TEST(Explain, SaysThatGpusAreDrained) {
    Line line{.node = test::v100()};
    EXPECT_TRUE(line.node.set_drained(test::uuid(0), true));
    const auto ticket = line.queue.add(waiting(8000));
    EXPECT_EQ(sentence(line, ticket), "too few of the GPUs that could take it are there and aren't drained");
}

TEST(Describe, SaysWhoStartsAndWhyTheOthersDoNot) {
    Line line{.node = test::node({test::gpu(0, 16130), test::gpu(1, 16130)})};
    line.run("a", 0, 12000, line.now + 7 * model::kSecond);
    line.run("b", 1, 14000);
    line.queue.add(waiting(8000));
    line.queue.add(waiting(2000));
    line.queue.add(waiting(16000));
    EXPECT_EQ(describe(line.next(), line.now, [](Ticket each) { return "number " + std::to_string(each); }),
              "number 2 starts; number 1 waits for room, 7000ms at most; number 3 waits for room");
}

}  // namespace
}  // namespace cgpu::queue
