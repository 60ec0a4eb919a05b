#include "client/cgpuctl/output/terminal.hpp"

#include <cstdlib>
#include <string>

#include <unistd.h>

#include "core/model/utf8.hpp"

namespace cgpu::cgpuctl {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kPlain = "\033[0m";
constexpr std::string_view kOverwrite = "\r\033[K";
/// A longer line would wrap, and only its last part would be overwritten.
constexpr std::size_t kLineWidth = 79;

std::string painted(std::string_view text, std::string_view color, bool wanted) {
    if (!wanted) return std::string(text);
    return std::string(color) + std::string(text) + std::string(kPlain);
}

}  // namespace

void Terminal::heading(std::string_view line) { out_ << painted(line, kBold, style_.color_out) << '\n'; }

void Terminal::done(std::string_view sentence) {
    if (!style_.quiet) out_ << model::valid_utf8(sentence) << '\n';
}

void Terminal::progress(std::string_view line) {
    if (style_.live && !style_.quiet) err_ << kOverwrite << line.substr(0, kLineWidth) << std::flush;
}

void Terminal::end_progress() {
    if (style_.live && !style_.quiet) err_ << kOverwrite << std::flush;
}

void Terminal::note(std::string_view sentence) {
    if (!style_.quiet) err_ << model::valid_utf8(sentence) << std::endl;
}

void Terminal::warning(std::string_view sentence) {
    err_ << painted("warning:", kYellow, style_.color_err) << ' ' << model::valid_utf8(sentence) << '\n';
}

void Terminal::error(std::string_view text) {
    // It may name an argument, or a file, of any bytes.
    const std::string sentence = model::valid_utf8(text);
    const auto what = std::string_view(sentence).substr(0, sentence.find(':'));
    err_ << painted(what, kRed, style_.color_err) << sentence.substr(what.size()) << '\n';
}

bool is_terminal(int fd) {
    const char* term = std::getenv("TERM");
    return isatty(fd) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

bool wants_color(int fd) {
    const char* no_color = std::getenv("NO_COLOR");
    if (no_color != nullptr && *no_color != '\0') return false;
    return is_terminal(fd);
}

}  // namespace cgpu::cgpuctl
