#include "client/cgpuctl/top/dialog/dialog.hpp"

#include <string_view>

#include "client/cgpuctl/output/values.hpp"
#include "core/model/policy.hpp"
#include "core/model/quote.hpp"
#include "core/model/similar.hpp"

namespace cgpu::cgpuctl::top {
namespace {

using client::ClientError;

/// Longer values than this are none.
constexpr std::size_t kLongest = 64;

std::string_view name_of(Subject::What what) {
    switch (what) {
        case Subject::What::weight:
            return "weight";
        case Subject::What::priority:
            return "priority";
        case Subject::What::policy:
            return "policy";
    }
    return {};
}

std::string_view values_of(Subject::What what) {
    switch (what) {
        case Subject::What::weight:
            return "slices";
        case Subject::What::priority:
            return "high or normal";
        case Subject::What::policy:
            return "0-5 or its name";
    }
    return {};
}

client::Result<bool> read_priority(const std::string& text) {
    const std::string priority = model::lowered(text);
    if (priority == "high" || priority == "normal") return priority == "high";
    return client::fail(ClientError::Kind::usage,
                        "priority " + model::quote(text) + ": there is no such. Try: high or normal.");
}

client::Result<std::string> read_policy(const std::string& text) {
    const auto policy = model::parse_policy(text);
    if (policy) return std::string(model::to_string(*policy));
    const auto likely = model::likely_policy(text);
    return client::fail(ClientError::Kind::usage,
                        "policy " + model::quote(text) + ": " + policy.error() + ". Try: type " +
                            std::string(likely.empty() ? "weighted" : likely) + ".");
}

}  // namespace

client::Result<void> Dialog::read_value() {
    change_ = {};
    change_.gpu = subject_.place.gpu;
    if (subject_.what == Subject::What::policy) {
        const auto policy = read_policy(typed_);
        if (!policy) return tl::unexpected(policy.error());
        change_.policy = *policy;
        return {};
    }
    change_.instance = subject_.place.instance;
    if (subject_.what == Subject::What::weight) {
        const auto weight = read_count("weight", typed_);
        if (!weight) return tl::unexpected(weight.error());
        change_.weight = *weight;
        return {};
    }
    const auto high = read_priority(typed_);
    if (!high) return tl::unexpected(high.error());
    change_.high_priority = *high;
    return {};
}

Dialog::State Dialog::press(const Key& key) {
    error_.clear();
    if (key.kind == Key::Kind::escape) return State::cancelled;
    if (asks_to_confirm_) return key.is("y") || key.is("Y") ? State::confirmed : State::cancelled;
    if (key.kind != Key::Kind::enter) {
        edit(typed_, key);
        return State::open;
    }
    if (typed_.empty()) return State::cancelled;
    if (const auto read = read_value(); !read) {
        error_ = read.error().text;
        return State::open;
    }
    if (sure_) return State::confirmed;
    asks_to_confirm_ = true;
    return State::open;
}

std::string Dialog::line() const {
    if (asks_to_confirm_) return words_of(change_, subject_.who) + ": set it? [y/N] ";
    return "New " + std::string(name_of(subject_.what)) + " of " + subject_.who + " (now " + subject_.now +
           "; " + std::string(values_of(subject_.what)) + "): " + typed_;
}

std::string words_of(const client::Change& change, const std::string& who) {
    if (change.policy) return "Policy " + *change.policy + " of " + who;
    if (change.weight) return "Weight " + std::to_string(*change.weight) + " of " + who;
    return std::string(change.high_priority.value_or(false) ? "High" : "Normal") + " priority of " + who;
}

bool edit(std::string& line, const Key& key) {
    if (key.kind == Key::Kind::text && line.size() < kLongest) {
        line += key.text;
        return true;
    }
    if (key.kind != Key::Kind::backspace || line.empty()) return false;
    while ((static_cast<unsigned char>(line.back()) & 0xc0U) == 0x80U && line.size() > 1) line.pop_back();
    line.pop_back();
    return true;
}

}  // namespace cgpu::cgpuctl::top
