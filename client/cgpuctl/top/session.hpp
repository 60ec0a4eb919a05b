#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cgpuctl/top/base/key.hpp"
#include "client/cgpuctl/top/dialog/dialog.hpp"
#include "client/cgpuctl/top/model/model.hpp"
#include "client/cgpuctl/top/model/order.hpp"

namespace cgpu::cgpuctl::top {

/// What a key wants to be done.
struct Effect {
    bool quit = false;
    bool read_now = false;
    std::optional<client::Change> change = std::nullopt;

    friend bool operator==(const Effect&, const Effect&) = default;
};

/// The live view without a terminal, a clock and a bus: readings and keys in, a state to be drawn out.
class Session {
  public:
    /// `sure`: changes are made without a question.
    /// `local`: as in Options.
    explicit Session(std::chrono::milliseconds delay, bool sure = false, bool local = true)
        : model_(local), delay_(delay), sure_(sure) {}

    void took(smi::Reading reading);
    /// The last figures stay, and the line at the bottom says why.
    void failed(const client::ClientError& error);
    /// A change that press() wanted has been answered.
    void changed(const client::Change& change, const client::Result<void>& answer);
    Effect press(const Key& key);

    struct Message {
        std::string text;
        bool bad = false;

        friend bool operator==(const Message&, const Message&) = default;
    };

    [[nodiscard]] const Model& model() const { return model_; }
    /// Filtered and sorted.
    [[nodiscard]] std::vector<InstanceRow> instances() const;
    /// Empty: there is none.
    [[nodiscard]] const std::optional<PlaceId>& selected() const { return selected_; }
    [[nodiscard]] SortBy sorted_by() const { return sort_by_; }
    [[nodiscard]] const std::string& filter() const { return filter_; }
    [[nodiscard]] bool paused() const { return paused_; }
    [[nodiscard]] bool shows_help() const { return shows_help_; }
    [[nodiscard]] std::chrono::milliseconds delay() const { return delay_; }
    /// What the user is asked for, with what was typed; empty: nothing.
    [[nodiscard]] std::string question() const;
    /// For the bottom of the screen; its text may be empty.
    [[nodiscard]] Message message() const;

  private:
    Effect press_in_filter(const Key& key);
    Effect press_in_dialog(const Key& key);
    Effect press_letter(char letter);
    void move(std::ptrdiff_t rows);
    void ask(Subject::What what);
    void select_one();
    void say(std::string text, bool bad) { message_ = {std::move(text), bad}; }
    [[nodiscard]] std::string who(const PlaceId& place, bool gpu_only) const;

    Model model_;
    std::chrono::milliseconds delay_;
    bool sure_;
    SortBy sort_by_ = SortBy::gpu;
    std::string filter_;
    bool types_filter_ = false;
    std::optional<PlaceId> selected_;
    std::optional<Dialog> dialog_;
    Message message_;
    bool away_ = false;  ///< the last reading failed
    bool paused_ = false;
    bool shows_help_ = false;
    bool changing_ = false;  ///< an answer is awaited
    bool asked_to_quit_ = false;
};

}  // namespace cgpu::cgpuctl::top
