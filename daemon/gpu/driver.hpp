#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/app/ports/examination.hpp"
#include "daemon/app/ports/ports.hpp"
#include "daemon/app/witness/sources.hpp"
#include "daemon/gpu/messages/question.hpp"
#include "daemon/gpu/reader_link.hpp"

namespace cgpu::gpu {

/// app::Gpus by the reader, a process of its own: NVIDIA's library can hang as long as the driver does, or
/// crash, and neither may concern cgpud. The reader gets one question at a time. A question that isn't
/// answered within kPatience is answered with a refusal; the late answer is dropped. If the reader ends, the
/// next question starts another one.
class Driver final : public app::Gpus, public app::DriverExamination, public app::UtilizationSource {
  public:
    static constexpr app::Nanos kPatience = 5'000'000'000;

    /// Starts a reader: a non-blocking stream socket, which the driver closes.
    using Start = std::function<app::Result<int>()>;

    Driver(app::Loop& loop, Start start);

    void list(std::function<void(app::Result<model::SeenGpus>)> call) override;
    void processes(const model::Uuid& gpu,
                   std::function<void(app::Result<app::DriverFigures>)> call) override;
    void examine(std::function<void(const app::Result<app::ExaminedDriver>&)> call) override;
    void utilization(const model::Uuid& gpu, std::uint64_t after_us,
                     std::function<void(app::Result<std::vector<app::UtilizationSample>>)> call) override;

  private:
    /// A question without an answer, in the order of arrival.
    struct Waiting {
        Question question;
        /// A line of the reader, or why there is none. False: it is no answer to this question.
        std::function<bool(const app::Result<std::string_view>&)> answer;
        app::WatchPtr patience;
    };

    template <class T>
    void ask(Question question, std::function<void(app::Result<T>)> call);
    void ask_soon();
    void ask_next();
    app::Result<void> start_reader();
    void received();
    void reader_ended(const std::string& why);
    /// Answers a question, if it still waits. False: the line is no answer to it.
    bool answer(std::uint64_t id, const app::Result<std::string_view>& line);

    app::Loop& loop_;
    Start start_;
    std::unique_ptr<ReaderLink> reader_;
    app::WatchPtr reader_watch_;
    std::deque<Waiting> waiting_;
    std::optional<std::uint64_t> asked_;  ///< which question the reader has, waiting or not
    std::uint64_t last_id_ = 0;
    app::WatchPtr soon_;
    /// Who waits for the examination under way.
    std::vector<std::function<void(const app::Result<app::ExaminedDriver>&)>> examining_;
};

}  // namespace cgpu::gpu
