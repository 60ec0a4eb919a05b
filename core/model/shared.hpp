#pragma once

#include <memory>
#include <utility>

namespace cgpu::model {

/// A value that copies share until one of them changes it. What get() refers to lives as long as one copy has
/// it unchanged.
template <class T>
class Shared {
  public:
    Shared() = default;
    explicit Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}

    [[nodiscard]] const T& get() const {
        static const T kEmpty{};
        return value_ ? *value_ : kEmpty;
    }
    /// To change it: no other copy's any more.
    [[nodiscard]] T& own() {
        if (!value_ || value_.use_count() > 1) value_ = std::make_shared<T>(get());
        return *value_;
    }
    /// Whether it is the very same value, which nobody has changed since it was copied.
    [[nodiscard]] bool is(const Shared& other) const { return value_ == other.value_; }

    friend bool operator==(const Shared& one, const Shared& other) {
        return one.is(other) || one.get() == other.get();
    }

  private:
    std::shared_ptr<T> value_;
};

}  // namespace cgpu::model
