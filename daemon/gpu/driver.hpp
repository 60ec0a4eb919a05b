#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/app/ports/examination.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/gpu/nvml_reader.hpp"

namespace cgpu::gpu {

/// app::Gpus on a thread of its own, because NVML can hang as long as the driver does. A query that isn't
/// answered within kPatience is answered with a refusal; the late answer is dropped.
class Driver final : public app::Gpus, public app::DriverExamination {
  public:
    static constexpr app::Nanos kPatience = 5'000'000'000;

    explicit Driver(app::Loop& loop);
    /// Doesn't wait for a thread that hangs in the driver: that thread is abandoned, and holds none of our
    /// objects.
    ~Driver() override;
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    void list(std::function<void(app::Result<model::SeenGpus>)> call) override;
    void processes(const model::Uuid& gpu,
                   std::function<void(app::Result<std::vector<app::DriverProcess>>)> call) override;
    void examine(std::function<void(const app::Result<app::ExaminedDriver>&)> call) override;

  private:
    using Job = std::function<void(NvmlReader&)>;
    /// Shared by both threads; it outlives whichever ends first.
    struct Queue {
        std::mutex mutex;
        std::condition_variable filled;
        std::deque<Job> jobs;
        bool closed = false;
        app::Loop* loop = nullptr;  ///< null once the driver is gone

        void post(std::function<void()> call);
    };

    static void work(const std::shared_ptr<Queue>& queue);
    template <class Answer>
    void ask(std::function<Answer(NvmlReader&)> question, std::function<void(Answer)> call);

    app::Loop& loop_;
    std::shared_ptr<Queue> queue_;
    std::thread thread_;
    /// Who waits for the examination under way. Shared with its answer, which may come after this object.
    std::shared_ptr<std::vector<std::function<void(const app::Result<app::ExaminedDriver>&)>>> examining_;
};

}  // namespace cgpu::gpu
