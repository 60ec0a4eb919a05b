#pragma once

#include <compare>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cgpu::model {

/// The id of a container (or of a `cgpuctl run` job), as the container engine gives it. Safe as a file name.
class InstanceId {
  public:
    /// Accepts [A-Za-z0-9][A-Za-z0-9_.-]{0,127}. Error: what is wrong, with the text quoted.
    [[nodiscard]] static tl::expected<InstanceId, std::string> parse(std::string_view text);

    [[nodiscard]] const std::string& str() const { return text_; }
    /// The first 12 characters (all of a shorter id): shown to users, and the directory's name in the control
    /// tree.
    [[nodiscard]] std::string short_id() const { return text_.substr(0, 12); }

    // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14
    friend auto operator<=>(const InstanceId&, const InstanceId&) = default;

  private:
    explicit InstanceId(std::string_view text) : text_(text) {}
    std::string text_;
};

}  // namespace cgpu::model
