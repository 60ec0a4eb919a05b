#pragma once

#include "daemon/app/ports/pages.hpp"

namespace cgpu::app::test {

/// The pages of a process that doesn't exist: a test writes its reports and reads its orders.
struct TestPages : ProcessPages {
    explicit TestPages(std::int32_t pid) {
        process = {pid, 1, "boot"};
        orders = &its_orders;
        reports = &its_reports;
    }
    wire::Orders its_orders{};
    wire::Reports its_reports{};
};

struct TestBell : InstanceBell {
    TestBell() { bell = &its_bell; }
    void ring() { its_bell.rings.fetch_add(1); }
    wire::Bell its_bell{};
};

}  // namespace cgpu::app::test
