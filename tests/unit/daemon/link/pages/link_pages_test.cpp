// The seals hold: a process that must obey an order can't write it.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/daemon/link/support/link_bed.hpp"

namespace cgpu::link::test {
namespace {

using Order = Puppet::Order;

struct LinkPages : LinkTest {};

TEST_F(LinkPages, OrdersCanNotBeWrittenByAClient) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        const int fd = front.page_fds[0];
        if (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED) return 1;
        void* mapped = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
        if (mapped == MAP_FAILED) return 2;
        if (mprotect(mapped, 4096, PROT_READ | PROT_WRITE) == 0) return 3;
        char byte = 1;
        if (pwrite(fd, &byte, 1, 100) == 1) return 4;
        if (ftruncate(fd, 0) == 0 || ftruncate(fd, 8192) == 0) return 5;
        if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0) return 6;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0) return 7;
        const auto path = "/proc/self/fd/" + std::to_string(fd);
        const int again = open(path.c_str(), O_RDWR);
        if (again >= 0 && mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, again, 0) != MAP_FAILED) return 8;
        const int cut = open(path.c_str(), O_RDWR | O_TRUNC);
        if (cut >= 0) return 9;
        return 0;
    }}),
              0U);
    // The daemon still can, and the client sees it.
    divider.pages[puppet.pid()]->orders->gates[0].limit_ns.store(4711);
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) {
        return static_cast<std::uint64_t>(front.orders->gates[0].limit_ns.load());
    }}),
              4711U);
}

TEST_F(LinkPages, ReportsAndDoorbellCanBeWrittenButNotCut) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        for (const int i : {1, 2}) {
            const int fd = front.page_fds[static_cast<std::size_t>(i)];
            if (ftruncate(fd, 0) == 0 || ftruncate(fd, 8192) == 0) return 1;
            if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0) return 2;
        }
        front.reports->gpus[0].launches.store(12);
        front.doorbell->rings.store(3);
        return 0;
    }}),
              0U);
    EXPECT_EQ(divider.pages[puppet.pid()]->reports->gpus[0].launches.load(), 12U);
    EXPECT_EQ(divider.doorbells[one.id]->page->rings.load(), 3U);
}

TEST_F(LinkPages, OneProcessDoesNotSeeAnothersOrders) {
    Puppet first(loop);
    Puppet second(loop);
    ASSERT_TRUE(first.connect(socket(one)));
    ASSERT_TRUE(second.connect(socket(one)));
    divider.pages[first.pid()]->orders->gates[0].limit_ns.store(1);
    divider.pages[second.pid()]->orders->gates[0].limit_ns.store(2);
    const Order limit{[](Front& front, const Order&) {
        return static_cast<std::uint64_t>(front.orders->gates[0].limit_ns.load());
    }};
    EXPECT_EQ(first.tell(limit), 1U);
    EXPECT_EQ(second.tell(limit), 2U);
}

TEST_F(LinkPages, ARefreshRewritesLimitsAndModeOfAll) {
    Puppet puppet(loop);
    ASSERT_TRUE(puppet.connect(socket(one)));
    auto changed = one;
    changed.quotas[0].memory_limit = model::Bytes(77 * kMiB);
    server->refresh(changed);
    const Order limit{[](Front& front, const Order&) { return front.orders->gpus[0].limit_bytes.load(); }};
    EXPECT_EQ(puppet.tell(limit), 77 * kMiB);
    changed.mode = model::Mode::none;
    server->refresh(changed);
    EXPECT_EQ(puppet.tell(limit), ~0ull);
    EXPECT_EQ(puppet.tell({[](Front& front, const Order&) -> std::uint64_t {
        return front.orders->gpus[0].isolate_memory.load();
    }}),
              0U);
    EXPECT_GE(puppet.ask(400 * kMiB), 400 * kMiB);
}

}  // namespace
}  // namespace cgpu::link::test
