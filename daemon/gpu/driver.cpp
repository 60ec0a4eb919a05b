#include "daemon/gpu/driver.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "daemon/gpu/messages/answer.hpp"

namespace cgpu::gpu {
namespace {

tl::unexpected<model::Refusal> no_answer(const std::string& why) {
    return model::refuse(model::Refusal::Reason::unsupported, "the NVIDIA driver", why,
                         "look at nvidia-smi and dmesg");
}

}  // namespace

Driver::Driver(app::Loop& loop, Start start) : loop_(loop), start_(std::move(start)) {}

template <class T>
void Driver::ask(Question question, std::function<void(app::Result<T>)> call) {
    const auto id = question.id = ++last_id_;
    Waiting waiting{question, nullptr, nullptr};
    waiting.answer = [id, call = std::move(call)](const app::Result<std::string_view>& line) {
        if (!line) {
            call(tl::unexpected(line.error()));
            return true;
        }
        auto read = parse_answer<T>(*line);
        if (!read || read->id != id) return false;
        call(std::move(read->result));
        return true;
    };
    waiting.patience = loop_.at(loop_.now() + kPatience,
                                [this, id] { answer(id, no_answer("it has not answered for 5 seconds")); });
    waiting_.push_back(std::move(waiting));
    ask_soon();
}

/// Not at once: no answer comes before the call of who asks has returned, and one who asks again for each
/// refusal doesn't keep the loop from the rest.
void Driver::ask_soon() {
    soon_ = loop_.at(loop_.now(), [this] { ask_next(); });
}

void Driver::list(std::function<void(app::Result<model::SeenGpus>)> call) {
    ask<model::SeenGpus>({.ask = Question::Ask::list}, std::move(call));
}

void Driver::processes(const model::Uuid& gpu, std::function<void(app::Result<app::DriverFigures>)> call) {
    ask<app::DriverFigures>({.ask = Question::Ask::processes, .gpu = gpu}, std::move(call));
}

void Driver::examine(std::function<void(const app::Result<app::ExaminedDriver>&)> call) {
    examining_.push_back(std::move(call));
    if (examining_.size() > 1) return;
    ask<app::ExaminedDriver>({.ask = Question::Ask::examine}, [this](const auto& answer) {
        const auto all = std::exchange(examining_, {});
        for (const auto& each : all) each(answer);
    });
}

void Driver::utilization(const model::Uuid& gpu, std::uint64_t after_us,
                         std::function<void(app::Result<std::vector<app::UtilizationSample>>)> call) {
    ask<std::vector<app::UtilizationSample>>(
        {.ask = Question::Ask::utilization, .gpu = gpu, .after_us = after_us}, std::move(call));
}

app::Result<void> Driver::start_reader() {
    const auto started = start_();
    if (!started) return tl::unexpected(started.error());
    auto reader = std::make_unique<ReaderLink>(*started);
    try {
        reader_watch_ = loop_.watch(reader->fd(), EPOLLIN, [this](std::uint32_t) { received(); });
    } catch (const std::system_error& error) {
        return no_answer(std::string("its reader can't be listened to: ") + error.what());
    }
    reader_ = std::move(reader);
    return {};
}

void Driver::ask_next() {
    if (asked_ || waiting_.empty()) return;
    const auto id = waiting_.front().question.id;
    if (!reader_) {
        if (const auto started = start_reader(); !started) {
            answer(id, tl::unexpected(started.error()));
            return ask_soon();
        }
    }
    asked_ = id;
    if (reader_->send(encode(waiting_.front().question))) return;
    reader_ended("its reader has ended");
    ask_soon();
}

void Driver::received() {
    const auto [line, ended] = reader_->receive();
    if (!ended && !line) return;
    if (ended || !asked_) {
        reader_ended("its reader has ended, or said what was not asked");
    } else if (answer(*asked_, app::Result<std::string_view>(*line))) {
        asked_.reset();
    } else {
        reader_ended("its reader has given an answer that can't be read");
    }
    ask_next();
}

void Driver::reader_ended(const std::string& why) {
    reader_watch_.reset();
    reader_.reset();
    if (const auto asked = std::exchange(asked_, std::nullopt)) answer(*asked, no_answer(why));
}

bool Driver::answer(std::uint64_t id, const app::Result<std::string_view>& line) {
    const auto found = std::ranges::find(waiting_, id, [](const Waiting& each) { return each.question.id; });
    if (found == waiting_.end()) return true;
    // Out of the queue first: the call may ask the next question.
    const Waiting waiting = std::move(*found);
    waiting_.erase(found);
    if (waiting.answer(line)) return true;
    waiting.answer(no_answer("its reader has given an answer that can't be read"));
    return false;
}

}  // namespace cgpu::gpu
