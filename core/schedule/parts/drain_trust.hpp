#pragma once

#include <optional>

#include "core/schedule/base/nanos.hpp"

namespace cgpu::schedule {

/// How well one instance's predictions of "my work in flight is done at …" came true. Only who predicts well
/// is handed over before its drain: a wrong prediction there lets two run at once, and what is measured of
/// work that overlaps another's is worth little.
class DrainTrust {
  public:
    /// Its gate closes now, and it says it will have drained at `at`.
    void predict(Nanos at) { predicted_ = at; }
    /// It has drained. Without a prediction before, nothing is learnt.
    void drained(Nanos at);
    [[nodiscard]] bool good(Nanos allowed_error) const { return error_ < allowed_error; }

  private:
    std::optional<Nanos> predicted_;
    Nanos error_ = kMilli;  // unknown is not trusted
};

}  // namespace cgpu::schedule
