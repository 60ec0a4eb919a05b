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

struct TestDoorbell : InstanceDoorbell {
    TestDoorbell() { page = &its_doorbell; }
    void ring() { its_doorbell.rings.fetch_add(1); }
    wire::Doorbell its_doorbell{};
};

}  // namespace cgpu::app::test
