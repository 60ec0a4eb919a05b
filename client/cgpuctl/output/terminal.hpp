#pragma once

#include <ostream>
#include <string_view>

namespace cgpu::cgpuctl {

/// Where a verb writes: results to `out`; warnings and errors to `err`.
class Terminal {
  public:
    struct Style {
        bool color_out = false;
        bool color_err = false;
        bool quiet = false;
        bool live = false;  ///< `err` is a terminal that can rewrite its line
    };

    Terminal(std::ostream& out, std::ostream& err, Style style) : out_(out), err_(err), style_(style) {}

    [[nodiscard]] std::ostream& out() { return out_; }
    /// Writes the headings of a table.
    void heading(std::string_view line);
    /// Reports a successful change; prints nothing if --quiet is set.
    void done(std::string_view sentence);
    /// Shows progress on a line that is overwritten; prints nothing without a terminal, or if --quiet is set.
    void progress(std::string_view line);
    /// Removes that line.
    void end_progress();
    /// Whether progress() shows anything to anybody.
    [[nodiscard]] bool is_live() const { return style_.live; }
    /// What is going on, for logs; prints nothing if --quiet is set.
    void note(std::string_view sentence);
    void warning(std::string_view sentence);
    /// `what: why. Try: …`
    void error(std::string_view sentence);

  private:
    std::ostream& out_;
    std::ostream& err_;
    Style style_;
};

/// Whether the descriptor is a terminal that obeys control sequences: TERM is not dumb.
[[nodiscard]] bool is_terminal(int fd);
/// Whether to use colour on the descriptor: a terminal, NO_COLOR (no-color.org) not set, TERM not dumb.
[[nodiscard]] bool wants_color(int fd);

}  // namespace cgpu::cgpuctl
