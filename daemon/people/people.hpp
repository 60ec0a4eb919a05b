#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <sys/types.h>

#include "daemon/app/limits/people.hpp"
#include "daemon/app/ports/loop.hpp"

namespace cgpu::people {

constexpr const char* kProgram = "/usr/lib/cgpu/cgpu-people";

/// Asks the name service by a program of its own, so that cgpud never waits for it. Whoever asks for somebody
/// who is being looked up gets the same answer: as each user may ask about that user only, none takes the
/// places of others.
class People final : public app::People {
  public:
    /// How long the program may take before it is killed.
    static constexpr app::Nanos kPatience = 5 * app::kSecond;
    /// How many look-ups there may be at once; the others wait.
    static constexpr std::size_t kMostAtOnce = 8;

    People(app::Loop& loop, std::filesystem::path program);
    ~People() override;
    People(const People&) = delete;
    People& operator=(const People&) = delete;

    void look_up(const app::PersonWord& who, Found found) override;

  private:
    struct Question;

    void reap();
    void start_more();
    void start(Question& question);
    void readable(Question& question);
    /// Ends the question and answers it, from the loop.
    void answer(Question& question, const app::Result<app::Person>& person);

    app::Loop& loop_;
    std::filesystem::path program_;
    std::map<std::uint64_t, std::unique_ptr<Question>> open_;  ///< in the order in which they were asked
    std::uint64_t last_ = 0;
    std::size_t running_ = 0;
    std::vector<pid_t> killed_;  ///< children without a question, whose end was not collected yet
};

}  // namespace cgpu::people
