#include "client/cgpuctl/queue/shown_wait.hpp"

#include <chrono>
#include <utility>

#include "client/node/bus_node.hpp"
#include "core/request/request.hpp"

namespace cgpu::cgpuctl {
namespace {

using std::chrono::milliseconds;

/// Most requests don't wait.
constexpr milliseconds kFirst{300};
constexpr milliseconds kBetween{10'000};

std::string text_of(const client::QueuePlace& place) {
    return "waiting in the queue, position " + std::to_string(place.position) +
           (place.waits_for.empty() ? "" : ": " + place.waits_for);
}

}  // namespace

ShownWait::ShownWait(std::string id, Terminal& terminal)
    : id_(std::move(id)), terminal_(terminal), thread_([this] { show(); }) {}

ShownWait::~ShownWait() { end(); }

void ShownWait::end() {
    if (!thread_.joinable()) return;
    {
        const std::scoped_lock lock(mutex_);
        ending_ = true;
    }
    woken_.notify_all();
    thread_.join();
    terminal_.end_progress();
}

bool ShownWait::sleep(milliseconds most) {
    std::unique_lock lock(mutex_);
    return !woken_.wait_for(lock, most, [this] { return ending_; });
}

void ShownWait::show() {
    std::uint32_t told = 0;
    for (auto pause = kFirst; sleep(pause); pause = kBetween) {
        // Not kept meanwhile: a bus has places for 256 connections of a user, and many may wait.
        const auto place = client::BusNode(false, "", false).queue_place(id_);
        if (!place || place->position == 0) continue;
        terminal_.progress(text_of(*place));
        // Where no line can be overwritten, a line for each position is enough.
        if (!terminal_.is_live() && told != place->position) terminal_.note(text_of(*place) + ".");
        told = place->position;
    }
}

std::unique_ptr<ShownWait> show_wait(const std::string& id,
                                     const std::map<std::string, std::string>& variables,
                                     Terminal& terminal) {
    const auto request = request::parse_request(variables);
    if (!request || !*request || !(*request)->wait) return nullptr;
    return std::make_unique<ShownWait>(id, terminal);
}

}  // namespace cgpu::cgpuctl
