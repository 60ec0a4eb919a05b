#include "client/cgpuctl/top/screen/curses_screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <cwchar>
#include <string>
#include <string_view>
#include <utility>

#include <langinfo.h>

// Macros named clear, move, … would change the headers behind them.
#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

#include "core/model/quote.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using client::ClientError;

/// After Esc a terminal's key sends more at once; a user doesn't.
constexpr int kEscapeTakesMs = 25;

enum Pair : short { kGood = 1, kWarning = 2, kBad = 3 };

attr_t pair_of(short pair) { return static_cast<attr_t>(COLOR_PAIR(pair)); }

/// Whether the terminal's description is known and has what a screen needs.
client::Result<void> check_terminal() {
    const char* name = std::getenv("TERM");
    const std::string term = name == nullptr ? "" : name;
    int found = 0;
    const bool known = setupterm(nullptr, STDOUT_FILENO, &found) == OK;
    const char* position = known ? tigetstr("cup") : nullptr;
    // tigetstr returns a pointer of -1 for what is no text.
    if (position != nullptr && reinterpret_cast<std::intptr_t>(position) != -1) return {};
    return client::fail(
        ClientError::Kind::usage,
        "cgpuctl top: TERM is " + model::quote(term) +
            ", and nothing can be drawn on such a terminal. Try: cgpuctl top --batch, or set TERM "
            "to xterm.");
}

std::string to_utf8(wint_t character) {
    std::string text;
    const auto code = static_cast<char32_t>(character);
    if (code < 0x80) {
        text = static_cast<char>(code);
    } else if (code < 0x800) {
        text = {static_cast<char>(0xc0U | (code >> 6U)), static_cast<char>(0x80U | (code & 0x3fU))};
    } else if (code < 0x10000) {
        text = {static_cast<char>(0xe0U | (code >> 12U)), static_cast<char>(0x80U | ((code >> 6U) & 0x3fU)),
                static_cast<char>(0x80U | (code & 0x3fU))};
    }
    return text;
}

Key function_key(wint_t code) {
    switch (code) {
        case KEY_UP:
            return {Key::Kind::up};
        case KEY_DOWN:
            return {Key::Kind::down};
        case KEY_PPAGE:
            return {Key::Kind::page_up};
        case KEY_NPAGE:
            return {Key::Kind::page_down};
        case KEY_HOME:
            return {Key::Kind::first};
        case KEY_END:
            return {Key::Kind::last};
        case KEY_ENTER:
            return {Key::Kind::enter};
        case KEY_BACKSPACE:
            return {Key::Kind::backspace};
        default:
            return {Key::Kind::other};
    }
}

Key plain_key(wint_t character) {
    constexpr wint_t kEscape = 0x1b;
    constexpr wint_t kDelete = 0x7f;
    if (character == '\n' || character == '\r') return {Key::Kind::enter};
    if (character == kEscape) return {Key::Kind::escape};
    if (character == kDelete || character == '\b') return {Key::Kind::backspace};
    std::string text = to_utf8(character);
    return character < ' ' || text.empty() ? Key{Key::Kind::other} : Key{Key::Kind::text, std::move(text)};
}

}  // namespace

struct CursesScreen::Parts {
    SCREEN* screen = nullptr;
    bool color = false;

    [[nodiscard]] attr_t attributes_of(Style style) const {
        switch (style) {
            case Style::plain:
                return A_NORMAL;
            case Style::heading:
                return A_BOLD;
            case Style::title:
            case Style::selected:
                return A_REVERSE;
            case Style::good:
                return color ? pair_of(kGood) : A_NORMAL;
            case Style::warning:
                return color ? pair_of(kWarning) | A_BOLD : A_BOLD;
            case Style::bad:
                return color ? pair_of(kBad) | A_BOLD : A_BOLD;
            case Style::faint:
                return A_DIM;
        }
        return A_NORMAL;
    }
};

CursesScreen::CursesScreen(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

client::Result<std::unique_ptr<CursesScreen>> CursesScreen::open(bool color) {
    if (const auto good = check_terminal(); !good) return tl::unexpected(good.error());
    auto parts = std::make_unique<Parts>();
    parts->screen = newterm(nullptr, stdout, stdin);
    if (parts->screen == nullptr)
        return client::fail(ClientError::Kind::failed,
                            "cgpuctl top: the terminal can't be opened. Try: cgpuctl top --batch.");
    set_term(parts->screen);
    // The keys Ctrl-C and Ctrl-Z still send their signals.
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(kEscapeTakesMs);
    curs_set(0);
    if (color && has_colors()) {
        start_color();
        use_default_colors();
        constexpr short kOwnBackground = -1;
        init_pair(kGood, COLOR_GREEN, kOwnBackground);
        init_pair(kWarning, COLOR_YELLOW, kOwnBackground);
        init_pair(kBad, COLOR_RED, kOwnBackground);
        parts->color = true;
    }
    return std::unique_ptr<CursesScreen>(new CursesScreen(std::move(parts)));
}

CursesScreen::~CursesScreen() {
    endwin();
    delscreen(parts_->screen);
}

Size CursesScreen::size() {
    winsize now{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) == 0 && now.ws_row > 0 && now.ws_col > 0 &&
        is_term_resized(now.ws_row, now.ws_col)) {
        resizeterm(now.ws_row, now.ws_col);
        // What a terminal shows after a change of its size is its own affair.
        clearok(stdscr, TRUE);
    }
    return {static_cast<std::size_t>(getmaxx(stdscr)), static_cast<std::size_t>(getmaxy(stdscr))};
}

void CursesScreen::draw(const std::vector<Line>& screen_lines, std::optional<std::size_t> cursor) {
    werase(stdscr);
    for (std::size_t row = 0; row < screen_lines.size(); ++row) {
        wmove(stdscr, static_cast<int>(row), 0);
        for (const Span& span : screen_lines[row]) {
            wattrset(stdscr, static_cast<int>(parts_->attributes_of(span.style)));
            // In the last column of the last line it fails after it has written.
            waddnstr(stdscr, span.text.c_str(), -1);
        }
    }
    wattrset(stdscr, static_cast<int>(A_NORMAL));
    curs_set(cursor ? 1 : 0);
    if (cursor) wmove(stdscr, getmaxy(stdscr) - 1, static_cast<int>(*cursor));
    wrefresh(stdscr);
}

std::optional<Key> CursesScreen::key() {
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == KEY_CODE_YES) return function_key(code);
    if (kind == OK) return plain_key(code);
    return std::nullopt;
}

bool use_locale_of_environment() {
    // Not LC_NUMERIC: figures have a point everywhere.
    std::setlocale(LC_CTYPE, "");
    return std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

}  // namespace cgpu::cgpuctl::top
