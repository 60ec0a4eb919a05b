#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/model/node.hpp"
#include "daemon/app/looks/second_look.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::app {

/// Looks at the GPUs again for requests that would be refused: a driver that has just come, a GPU that is
/// back, memory that an unmanaged container has just given back. Requests that come together share a look,
/// and looks begin at least kBetween apart, so that nobody can keep the driver busy by requests that are
/// refused.
class SecondLooks final : public SecondLook {
  public:
    static constexpr Nanos kBetween = kSecond / 2;
    /// More than wait at a time are refused by what is known.
    static constexpr std::size_t kMost = 512;

    struct Outside {
        Loop& loop;
        /// Asks the driver, puts in force what it shows, and calls back, whether it has answered or not.
        std::function<void(std::function<void()> done)> look;
        std::function<const model::Node&()> node;
        std::function<bool()> driver_fails;  ///< it didn't answer the last time
    };

    explicit SecondLooks(Outside outside) : outside_(std::move(outside)) {}

    [[nodiscard]] bool may_be_outdated(const model::Refusal& refusal) const override;
    void then(std::function<void()> call) override;

  private:
    void begin();
    void looked();
    [[nodiscard]] bool some_gpu_is_missing() const;
    [[nodiscard]] bool something_is_held() const;

    Outside outside_;
    std::vector<std::function<void()>> waiting_;  ///< for a look that hasn't begun
    std::vector<std::function<void()>> served_;   ///< by the look that is under way
    bool looking_ = false;
    bool calling_back_ = false;
    Nanos last_begin_ = -kBetween;
    WatchPtr next_;
    std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace cgpu::app
