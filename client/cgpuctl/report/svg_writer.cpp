#include "client/cgpuctl/report/svg_writer.hpp"

#include <array>
#include <cstdio>

#include "client/cgpuctl/report/xml_text.hpp"

namespace cgpu::cgpuctl::report {
namespace {

/// With up to two decimals. A comma for the decimal point, as in some languages, would be no SVG.
std::string pixels(double value) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    std::string out = text.data();
    for (char& letter : out) letter = letter == ',' ? '.' : letter;
    while (out.back() == '0') out.pop_back();
    if (out.back() == '.') out.pop_back();
    return out;
}

std::string attribute(std::string_view name, double value) {
    return " " + std::string(name) + "=\"" + pixels(value) + "\"";
}

std::string box(double x, double y, double width, double height) {
    return attribute("x", x) + attribute("y", y) + attribute("width", width) + attribute("height", height);
}

constexpr std::string_view kStyle = R"(<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 18px; font-weight: 600; }
.small { font-size: 12px; fill: #59636e; }
.ground { fill: #ffffff; }
.grid { stroke: #d8dee4; }
.frame { fill: none; stroke: #d8dee4; }
.mark { stroke: #1f2328; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .small { fill: #9198a1; }
  .ground { fill: #0d1117; }
  .grid, .frame { stroke: #30363d; }
  .mark { stroke: #e6edf3; }
}
</style>
)";

}  // namespace

SvgWriter::SvgWriter(double width, double height)
    : out_("<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) +
           attribute("height", height) + " viewBox=\"0 0 " + pixels(width) + " " + pixels(height) + "\">\n") {
    out_ += kStyle;
    out_ += "<rect class=\"ground\"" + box(0, 0, width, height) + "/>\n";
}

void SvgWriter::text(double x, double y, std::string_view anchor, std::string_view kind,
                     std::string_view text) {
    out_ += "<text" + attribute("x", x) + attribute("y", y);
    if (!kind.empty()) out_ += " class=\"" + std::string(kind) + "\"";
    if (anchor != "start") out_ += " text-anchor=\"" + std::string(anchor) + "\"";
    out_ += ">" + xml_text(text) + "</text>\n";
}

void SvgWriter::line(double x1, double y1, double x2, double y2) {
    out_ += "<line class=\"grid\"" + attribute("x1", x1) + attribute("y1", y1) + attribute("x2", x2) +
            attribute("y2", y2) + "/>\n";
}

void SvgWriter::bar(double x, double y, double width, double height, std::string_view colour,
                    std::string_view tip) {
    out_ += "<rect" + box(x, y, width, height) + " fill=\"" + std::string(colour) + "\"";
    out_ += tip.empty() ? "/>\n" : "><title>" + xml_text(tip) + "</title></rect>\n";
}

void SvgWriter::frame(double x, double y, double width, double height) {
    out_ += "<rect class=\"frame\"" + box(x, y, width, height) + "/>\n";
}

void SvgWriter::mark(double x, double y1, double y2) {
    out_ += "<line class=\"mark\"" + attribute("x1", x) + attribute("y1", y1) + attribute("x2", x) +
            attribute("y2", y2) + "/>\n";
}

}  // namespace cgpu::cgpuctl::report
