#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/queue/next.hpp"
#include "tests/unit/core/support/admissions.hpp"

/// A node with what runs on it, and those who wait, in a line each.
namespace cgpu::test {

constexpr std::uint32_t kAlice = 1000;
constexpr std::uint32_t kBob = 1001;

inline queue::Waiting waiting(const request::Variables& variables,
                              std::optional<model::Nanos> length = std::nullopt,
                              std::uint32_t user = kAlice) {
    queue::Waiting made;
    made.request = request_in(variables);
    made.length = length;
    made.owner.user = user;
    return made;
}

/// So much memory of any GPU.
inline queue::Waiting waiting(std::uint64_t mib, std::optional<model::Nanos> length = std::nullopt,
                              std::uint32_t user = kAlice) {
    return waiting({{"CGPU_MEM", std::to_string(mib) + "MiB"}}, length, user);
}

/// So much memory of that GPU.
inline queue::Waiting waiting_for(std::uint8_t gpu, std::uint64_t mib,
                                  std::optional<model::Nanos> length = std::nullopt) {
    return waiting({{"CGPU_MEM", std::to_string(mib) + "MiB"}, {"CGPU_GPUS", std::to_string(gpu)}}, length);
}

/// So much memory of each of so many GPUs.
inline queue::Waiting waiting_on(std::uint32_t count, std::uint64_t mib,
                                 std::optional<model::Nanos> length = std::nullopt) {
    auto made = waiting(mib, length);
    made.request.count = count;
    return made;
}

struct Line {
    model::Node node;
    queue::Ends ends = {};
    model::Nanos now = 100;
    queue::Queue queue = {};
    admission::Defaults defaults = {};
    queue::AllowanceOf allowance_of = {};
    queue::Bounds bounds = {};

    /// On one GPU.
    void run(const std::string& name, std::uint8_t gpu, std::uint64_t mib,
             std::optional<model::Nanos> end = std::nullopt, std::uint32_t user = kAlice) {
        auto made = instance(name, {quota(gpu, mib)});
        made.owner.user = user;
        EXPECT_TRUE(node.add_instance(made));
        if (end) ends[made.id] = *end;
    }
    void end(const std::string& name) {
        EXPECT_TRUE(node.remove_instance(id(name)));
        ends.erase(id(name));
    }
    queue::Decision next() const {
        const auto order = queue::in_order(queue);
        return queue::next({node, ends, now, order, defaults, allowance_of}, bounds);
    }
};

inline std::vector<queue::Ticket> started(const queue::Decision& decision) {
    std::vector<queue::Ticket> tickets;
    for (const auto& start : decision.starts) tickets.push_back(start.ticket);
    return tickets;
}

/// The wait of that ticket, or a failed test.
inline queue::Wait wait_of(const queue::Decision& decision, queue::Ticket ticket) {
    for (const auto& wait : decision.waits)
        if (wait.ticket == ticket) return wait;
    ADD_FAILURE() << "request " << ticket << " doesn't wait";
    return {};
}

using Tickets = std::vector<queue::Ticket>;

}  // namespace cgpu::test
