#pragma once

#include <string>
#include <utility>

#include "client/cgpuctl/top/base/key.hpp"
#include "client/cgpuctl/top/model/rows.hpp"
#include "client/node/values/change.hpp"
#include "client/node/values/client_error.hpp"

namespace cgpu::cgpuctl::top {

/// What a dialog would change: a setting of an instance, or the policy of its GPU.
struct Subject {
    enum class What { weight, priority, policy };
    What what = What::weight;
    PlaceId place;
    std::string who;  ///< `train on GPU 0`, or `GPU 0`
    std::string now;  ///< the value in force
};

/// Asks for a value and then, unless the user is sure, whether it is meant, in one line.
class Dialog {
  public:
    explicit Dialog(Subject subject, bool sure = false) : subject_(std::move(subject)), sure_(sure) {}

    enum class State {
        open,
        cancelled,
        confirmed,  ///< change() is wanted
    };
    State press(const Key& key);

    /// The question with what was typed; the cursor is behind it.
    [[nodiscard]] std::string line() const;
    /// Why the value that was typed can't be; empty: nothing is wrong.
    [[nodiscard]] const std::string& error() const { return error_; }
    [[nodiscard]] const client::Change& change() const { return change_; }

  private:
    /// Puts the typed value into the change. Error (usage).
    client::Result<void> read_value();

    Subject subject_;
    bool sure_;
    std::string typed_;
    bool asks_to_confirm_ = false;
    std::string error_;
    client::Change change_;
};

/// The change in words: `Weight 3 of train on GPU 0`.
[[nodiscard]] std::string words_of(const client::Change& change, const std::string& who);

/// Adds the key to a line that is being typed, or takes the last character away. False: it does neither.
bool edit(std::string& line, const Key& key);

}  // namespace cgpu::cgpuctl::top
