#pragma once

#include <string>
#include <string_view>

namespace cgpu::cgpuctl::report {

/// Writes a picture as SVG, element by element. Lengths and places are pixels. Texts may be anybody's.
class SvgWriter {
  public:
    SvgWriter(double width, double height);

    /// `anchor`: start or end; `kind`: title, small, or nothing.
    void text(double x, double y, std::string_view anchor, std::string_view kind, std::string_view text);
    /// A line of the grid.
    void line(double x1, double y1, double x2, double y2);
    /// `tip`: shown by viewers that the mouse rests on; may be empty.
    void bar(double x, double y, double width, double height, std::string_view colour, std::string_view tip);
    void frame(double x, double y, double width, double height);
    void mark(double x, double y1, double y2);

    [[nodiscard]] std::string finish() const { return out_ + "</svg>\n"; }

  private:
    std::string out_;
};

}  // namespace cgpu::cgpuctl::report
