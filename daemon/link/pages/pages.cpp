#include "daemon/link/pages/pages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cgpu::link {

app::Result<OrdersPage> OrdersPage::make(const model::Instance& instance, const Outside& outside,
                                         const Settings& settings) {
    const auto count =
        static_cast<std::uint32_t>(std::min<std::size_t>(instance.quotas.size(), wire::kMaxGpus));
    auto page = SharedPage::make("cgpu-orders", SharedPage::Writer::daemon,
                                 std::array{wire::kOrdersMagic, wire::kPageVersion, count});
    if (!page) return tl::unexpected(page.error());
    OrdersPage made(std::move(*page));
    auto& orders = made.orders();
    orders.on_loss.store(static_cast<std::uint32_t>(settings.on_loss), std::memory_order_relaxed);
    orders.hold_ns.store(settings.hold, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::ranges::copy(instance.quotas[i].gpu.raw(), orders.gpus[i].uuid);
        orders.gates[i].holds_until_ns.store(outside.loop.now() + settings.hold, std::memory_order_relaxed);
    }
    made.refresh(instance, outside);
    return made;
}

void OrdersPage::refresh(const model::Instance& instance, const Outside& outside) {
    const bool isolate = instance.mode != model::Mode::none;
    const auto count = std::min<std::size_t>(instance.quotas.size(), orders().gpu_count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto& quota = instance.quotas[i];
        auto& gpu = orders().gpus[i];
        gpu.limit_bytes.store(
            isolate ? quota.memory_limit.count() : std::numeric_limits<std::uint64_t>::max(),
            std::memory_order_relaxed);
        gpu.total_bytes.store(outside.gpu_total(quota.gpu).count(), std::memory_order_relaxed);
        gpu.isolate_memory.store(isolate ? 1 : 0, std::memory_order_relaxed);
    }
}

void OrdersPage::show_share(std::uint32_t gpu, std::optional<double> share) {
    if (gpu >= orders().gpu_count) return;
    const auto word =
        share ? 1 + static_cast<std::uint32_t>(std::lround(std::clamp(*share, 0.0, 1.0) * 1000)) : 0;
    orders().gpus[gpu].achieved_share.store(word, std::memory_order_relaxed);
}

Pages::Pages(const model::Process& of, OrdersPage orders_page, SharedPage reports_page)
    : orders_page_(std::move(orders_page)), reports_page_(std::move(reports_page)) {
    process = of;
    orders = &orders_page_.orders();
    reports = reports_page_.as<const wire::Reports>();
}

app::Result<std::shared_ptr<Pages>> Pages::make(const model::Process& process,
                                                const model::Instance& instance, const Outside& outside,
                                                const Settings& settings) {
    auto orders = OrdersPage::make(instance, outside, settings);
    if (!orders) return tl::unexpected(orders.error());
    auto reports = SharedPage::make("cgpu-reports", SharedPage::Writer::module,
                                    std::array{wire::kReportsMagic, wire::kPageVersion});
    if (!reports) return tl::unexpected(reports.error());
    return std::shared_ptr<Pages>(new Pages(process, std::move(*orders), std::move(*reports)));
}

DoorbellPage::DoorbellPage(SharedPage memory) : memory_(std::move(memory)) {
    page = memory_.as<const wire::Doorbell>();
}

app::Result<std::shared_ptr<DoorbellPage>> DoorbellPage::make() {
    auto page = SharedPage::make("cgpu-doorbell", SharedPage::Writer::module,
                                 std::array{wire::kDoorbellMagic, wire::kPageVersion});
    if (!page) return tl::unexpected(page.error());
    return std::shared_ptr<DoorbellPage>(new DoorbellPage(std::move(*page)));
}

}  // namespace cgpu::link
