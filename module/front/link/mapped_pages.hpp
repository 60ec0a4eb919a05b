#pragma once

#include <array>
#include <cstdint>

#include "core/wire/pages.hpp"

namespace cgpu::front {

/// The pages shared with the daemon, mapped at addresses that stay the same as long as the process lives:
/// those of a new connection are mapped over the old ones, so that a thread that was just reading an old page
/// reads the new one instead of faulting.
class MappedPages {
  public:
    constexpr MappedPages() = default;

    /// Maps the descriptors of a Welcome: orders, reports, doorbell; reports and doorbell may be absent (-1)
    /// for an observer. False: they are not valid, and the former mappings stay. Closes nothing.
    bool map(const std::array<int, 3>& files);

    bool mapped() const { return orders_ != nullptr; }
    const wire::Orders* orders() const { return orders_; }
    wire::Reports* reports() const { return reports_; }
    void ring() const;

    /// After a fork: the mappings are the parent's and stay where they are, but this process has no pages.
    void forget() { *this = MappedPages{}; }

  private:
    const wire::Orders* orders_ = nullptr;
    wire::Reports* reports_ = nullptr;
    wire::Doorbell* doorbell_ = nullptr;
};

}  // namespace cgpu::front
