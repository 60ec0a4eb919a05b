#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "client/cgpuctl/top/base/key.hpp"
#include "client/cgpuctl/top/base/styled.hpp"
#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl::top {

/// The terminal at standard input and output, by ncurses. While the object lives it shows the alternate
/// screen, without echo; then it is as it was before. It only uses modes that `reset` ends, because nothing
/// restores a terminal after SIGKILL.
class CursesScreen {
  public:
    /// Error (usage): this terminal can't be drawn on.
    static client::Result<std::unique_ptr<CursesScreen>> open(bool color);
    ~CursesScreen();
    CursesScreen(const CursesScreen&) = delete;
    CursesScreen& operator=(const CursesScreen&) = delete;

    /// The present one; what is drawn next is for it.
    [[nodiscard]] Size size();
    /// `cursor`: where it is shown in the last line; empty: it isn't.
    void draw(const std::vector<Line>& lines, std::optional<std::size_t> cursor);
    /// The next key; empty: none has been pressed.
    [[nodiscard]] std::optional<Key> key();

  private:
    struct Parts;
    explicit CursesScreen(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
};

/// Whether the locale of the environment has UTF-8. It is in force from then on, for characters only.
[[nodiscard]] bool use_locale_of_environment();

}  // namespace cgpu::cgpuctl::top
