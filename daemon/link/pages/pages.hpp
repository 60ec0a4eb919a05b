#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "daemon/link/base/settings.hpp"
#include "daemon/link/pages/shared_page.hpp"

namespace cgpu::link {

/// What an instance's processes must obey, on a page of its own; all gates are closed at first, for one hold
/// time.
class OrdersPage {
  public:
    static app::Result<OrdersPage> make(const model::Instance& instance, const Outside& outside,
                                        const Settings& settings);
    [[nodiscard]] int fd() const { return page_.fd(); }
    [[nodiscard]] wire::Orders& orders() const { return *page_.as<wire::Orders>(); }
    /// Writes the current limits and modes. The gates are not touched.
    void refresh(const model::Instance& instance, const Outside& outside);
    /// Writes which share of the GPU's time the instance has had: 0..1, or empty if it isn't measured.
    void show_share(std::uint32_t gpu, std::optional<double> share);

  private:
    explicit OrdersPage(SharedPage page) : page_(std::move(page)) {}
    SharedPage page_;
};

/// The orders and reports of one process.
class Pages final : public app::ProcessPages {
  public:
    static app::Result<std::shared_ptr<Pages>> make(const model::Process& process,
                                                    const model::Instance& instance, const Outside& outside,
                                                    const Settings& settings);
    [[nodiscard]] int orders_fd() const { return orders_page_.fd(); }
    [[nodiscard]] int reports_fd() const { return reports_page_.fd(); }
    void refresh(const model::Instance& instance, const Outside& outside) {
        orders_page_.refresh(instance, outside);
    }

  private:
    Pages(const model::Process& of, OrdersPage orders_page, SharedPage reports_page);
    OrdersPage orders_page_;
    SharedPage reports_page_;
};

class DoorbellPage final : public app::InstanceDoorbell {
  public:
    static app::Result<std::shared_ptr<DoorbellPage>> make();
    [[nodiscard]] int fd() const { return memory_.fd(); }

  private:
    explicit DoorbellPage(SharedPage memory);
    SharedPage memory_;
};

}  // namespace cgpu::link
