#include "client/cgpuctl/top/session.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "client/cgpuctl/output/format.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using std::chrono::milliseconds;

constexpr std::array kDelays = {milliseconds{100},   milliseconds{200},   milliseconds{500},
                                milliseconds{1000},  milliseconds{2000},  milliseconds{5000},
                                milliseconds{10000}, milliseconds{30000}, milliseconds{60000}};
constexpr std::ptrdiff_t kPage = 10;

milliseconds longer(milliseconds delay) {
    const auto* const next = std::ranges::upper_bound(kDelays, delay);
    return next == kDelays.end() ? std::max(delay, kDelays.back()) : *next;
}

milliseconds shorter(milliseconds delay) {
    const auto* const next = std::ranges::lower_bound(kDelays, delay);
    return next == kDelays.begin() ? std::min(delay, kDelays.front()) : *std::prev(next);
}

}  // namespace

void Session::took(smi::Reading reading) {
    model_.add(std::move(reading));
    if (std::exchange(away_, false)) say("cgpud answers again.", false);
    select_one();
}

void Session::failed(const client::ClientError& error) {
    model_.gap();
    away_ = true;
    message_ = {error.text + " The figures are those of " + time_text(model_.taken()) + ".", true};
}

void Session::changed(const client::Change& change, const client::Result<void>& answer) {
    changing_ = false;
    const PlaceId place{change.instance, change.gpu};
    if (answer)
        message_ = {words_of(change, who(place, change.policy.has_value())) + " is set.", false};
    else
        message_ = {answer.error().text, true};
}

std::vector<InstanceRow> Session::instances() const {
    auto rows = model_.rows().instances;
    top::filter(rows, filter_);
    top::sort(rows, sort_by_);
    return rows;
}

std::string Session::question() const {
    if (dialog_) return dialog_->line();
    return types_filter_ ? "Only names with, or ids that begin with: " + filter_ : std::string();
}

Session::Message Session::message() const {
    if (dialog_) return {dialog_->error(), true};
    return message_;
}

Effect Session::press(const Key& key) {
    if (std::exchange(shows_help_, false)) return {};
    if (types_filter_) return press_in_filter(key);
    if (dialog_) return press_in_dialog(key);
    if (!away_ && !changing_) message_ = {};
    switch (key.kind) {
        case Key::Kind::up:
            move(-1);
            return {};
        case Key::Kind::down:
            move(1);
            return {};
        case Key::Kind::page_up:
            move(-kPage);
            return {};
        case Key::Kind::page_down:
            move(kPage);
            return {};
        case Key::Kind::first:
        case Key::Kind::last: {
            const auto all = static_cast<std::ptrdiff_t>(model_.rows().instances.size());
            move(key.kind == Key::Kind::first ? -all : all);
            return {};
        }
        case Key::Kind::escape:
            filter_.clear();
            select_one();
            return {};
        case Key::Kind::text:
            return key.text.size() == 1 ? press_letter(key.text.front()) : Effect{};
        case Key::Kind::enter:
        case Key::Kind::backspace:
        case Key::Kind::other:
            return {};
    }
    return {};
}

Effect Session::press_letter(char letter) {
    switch (letter) {
        case 'q':
            // A change that is under way would end with the program.
            if (!changing_ || std::exchange(asked_to_quit_, true)) return {.quit = true};
            say("cgpud has not answered yet. Press q again to leave all the same.", true);
            return {};
        case '?':
        case 'h':
            shows_help_ = true;
            return {};
        case 's':
        case '>':
            sort_by_ = next_of(sort_by_, 1);
            return {};
        case '<':
            sort_by_ = next_of(sort_by_, -1);
            return {};
        case '/':
            types_filter_ = true;
            return {};
        case ' ':
            paused_ = !paused_;
            return {.read_now = !paused_};
        case '+':
            delay_ = longer(delay_);
            return {};
        case '-':
            delay_ = shorter(delay_);
            return {.read_now = !paused_};
        case 'j':
            move(1);
            return {};
        case 'k':
            move(-1);
            return {};
        case 'w':
            ask(Subject::What::weight);
            return {};
        case 'p':
            ask(Subject::What::priority);
            return {};
        case 'P':
            ask(Subject::What::policy);
            return {};
        default:
            say("There is no such key. Press ? for all keys.", true);
            return {};
    }
}

Effect Session::press_in_filter(const Key& key) {
    if (key.kind == Key::Kind::escape) filter_.clear();
    if (key.kind == Key::Kind::escape || key.kind == Key::Kind::enter)
        types_filter_ = false;
    else
        edit(filter_, key);
    select_one();
    return {};
}

Effect Session::press_in_dialog(const Key& key) {
    switch (dialog_->press(key)) {
        case Dialog::State::open:
            return {};
        case Dialog::State::cancelled:
            dialog_.reset();
            say("Nothing was changed.", false);
            return {};
        case Dialog::State::confirmed: {
            Effect effect{.change = dialog_->change()};
            dialog_.reset();
            changing_ = true;
            asked_to_quit_ = false;
            say("cgpud is asked.", false);
            return effect;
        }
    }
    return {};
}

void Session::ask(Subject::What what) {
    const auto rows = instances();
    const auto row =
        std::ranges::find_if(rows, [&](const InstanceRow& each) { return each.place == selected_; });
    const bool policy = what == Subject::What::policy;
    const auto& gpus = model_.rows().gpus;
    if (changing_) {
        say("cgpud has not answered the last change yet.", true);
        return;
    }
    // Without an instance there is no doubt about a node's only GPU.
    if (row == rows.end() && !(policy && gpus.size() == 1)) {
        message_ = {policy ? "policy: no instance is selected, and its GPU's policy is meant. Try: cgpuctl "
                             "set-policy."
                           : "There is no instance to change.",
                    true};
        return;
    }
    if (row != rows.end() && !row->own) {
        message_ = {shown_name(row->name) + ": GPU " + std::to_string(row->gpu_index) +
                        " isn't its own. Try: select its row on another GPU.",
                    true};
        return;
    }
    const PlaceId place = row == rows.end() ? PlaceId{"", gpus.front().uuid} : row->place;
    const auto gpu = std::ranges::find(gpus, place.gpu, &GpuRow::uuid);
    std::string now;
    if (policy)
        now = gpu == gpus.end() ? "unknown" : gpu->policy;
    else if (what == Subject::What::weight)
        now = std::to_string(row->weight);
    else
        now = row->high ? "high" : "normal";
    message_ = {};
    dialog_.emplace(Subject{what, place, who(place, policy), now}, sure_);
}

void Session::move(std::ptrdiff_t steps) {
    const auto rows = instances();
    if (rows.empty()) return;
    const auto row =
        std::ranges::find_if(rows, [&](const InstanceRow& each) { return each.place == selected_; });
    const std::ptrdiff_t at = row == rows.end() ? 0 : row - rows.begin();
    const auto to = std::clamp<std::ptrdiff_t>(at + steps, 0, std::ssize(rows) - 1);
    selected_ = rows[static_cast<std::size_t>(to)].place;
}

void Session::select_one() {
    const auto rows = instances();
    if (std::ranges::any_of(rows, [&](const InstanceRow& row) { return row.place == selected_; })) return;
    selected_ = rows.empty() ? std::nullopt : std::optional(rows.front().place);
    // What was asked was about the one that has gone.
    if (dialog_) {
        dialog_.reset();
        say("The instance has ended. Nothing was changed.", true);
    }
}

std::string Session::who(const PlaceId& place, bool gpu_only) const {
    const auto& gpus = model_.rows().gpus;
    const auto& instances = model_.rows().instances;
    const auto gpu = std::ranges::find(gpus, place.gpu, &GpuRow::uuid);
    std::string on = gpu == gpus.end() ? place.gpu : "GPU " + std::to_string(gpu->index);
    if (gpu_only) return on;
    const auto row = std::ranges::find(instances, place.instance,
                                       [](const InstanceRow& each) { return each.place.instance; });
    return (row == instances.end() ? short_id(place.instance) : shown_name(row->name)) + " on " + on;
}

}  // namespace cgpu::cgpuctl::top
