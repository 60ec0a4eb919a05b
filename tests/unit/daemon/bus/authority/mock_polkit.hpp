#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cgpu::test {

/// A polkit on the system bus that gives the configured answers, on a thread of its own.
class MockPolkit {
  public:
    /// `gone`: as polkit does of a caller that has ended meanwhile.
    enum class Mood { yes, no, challenge, hold, gone };
    struct Question {
        std::string subject_kind;
        std::string subject;
        std::string action;
        bool interactive;
        std::string id;

        friend bool operator==(const Question&, const Question&) = default;
    };

    explicit MockPolkit(Mood mood);
    ~MockPolkit();
    MockPolkit(const MockPolkit&) = delete;
    MockPolkit& operator=(const MockPolkit&) = delete;

    void set_mood(Mood mood);
    /// Answers yes to the held questions.
    void answer_held();
    [[nodiscard]] std::vector<Question> questions() const;
    [[nodiscard]] std::vector<std::string> cancelled() const;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace cgpu::test
