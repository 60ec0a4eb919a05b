// The part of the flow that moves running processes.
#include "core/upgrade/flow.hpp"

namespace cgpu::upgrade {

void Flow::ask(const Who& who, std::uint64_t id, Front& front, const Version& to) {
    front.asked.emplace(++next_request_, to);
    actions_.emplace_back(Switch{who, id, next_request_, to, settings_.switch_deadline_ms});
}

void Flow::bring(const Who& who, std::uint64_t id, Front& front, const Version& to) {
    // One that was asked for something else may still do that: the last word counts.
    const bool elsewhere =
        front.asked.empty() ? front.runs && *front.runs != to : front.asked.rbegin()->second != to;
    if (elsewhere && front.switches && front.refused.empty() && now_ >= front.not_before)
        ask(who, id, front, to);
}

void Flow::forward() {
    for (const auto& [who, process] : roster_.all())
        for (const auto& [id, front] : process.fronts) {
            const bool there = front.runs == to();
            if (!there && (!front.switches || front.version < target_->least_front))
                return turn_round(false, name_of(who) + " has front " + front.version.str() +
                                             ", which can't exchange its engine for " + to().str());
        }
    if (now_ >= job_->deadline)
        return turn_round(false, "not all went over in time: " + roster_.others_than(to()));
    if (step_ == Step::canary) try_canary();
    if (step_ == Step::all) try_all();
    if (!roster_.all_on(to())) return;
    const auto count = roster_.all().size();
    finish(Result::done, to().str() + " is in force" +
                             (count == 0 ? "." : " in " + counted(count, "running process") + "."));
}

void Flow::try_canary() {
    auto& processes = roster_.all();
    if (canary_) {
        const auto found = processes.find(*canary_);
        if (found != processes.end() && !found->second.is_on(to())) {
            for (auto& [id, front] : found->second.fronts) bring(found->first, id, front, to());
            return;
        }
        canary_.reset();
        if (found != processes.end()) {
            tell(false, title() + ": " + name_of(found->first) + " went over first");
            step_ = Step::all;
            return;
        }
    }
    for (auto& [who, process] : processes) {
        for (auto& [id, front] : process.fronts) {
            bring(who, id, front, to());
            if (!front.asked.empty()) canary_ = who;
        }
        if (canary_) return;
    }
}

void Flow::try_all() {
    for (auto& [who, process] : roster_.all())
        for (auto& [id, front] : process.fronts) bring(who, id, front, to());
}

void Flow::turn_round(bool cancelled, const std::string& why) {
    job_->back = true;
    job_->cancelled = cancelled;
    job_->why = why;
    job_->deadline = now_ + settings_.back_timeout;
    step_ = Step::back;
    canary_.reset();
    roster_.forgive();
    tell(!cancelled, title() + ": goes back: " + why);
    save(After::back);
}

void Flow::backward() {
    bool waits = false;
    for (auto& [who, process] : roster_.all()) {
        for (auto& [id, front] : process.fronts) bring(who, id, front, from());
        waits |= !process.is_on(from()) && !process.has_refused(from());
    }
    if (!waits || now_ >= job_->deadline) finish_back();
}

void Flow::finish_back() {
    std::string message = job_->cancelled ? "It was cancelled" : "It went back, because " + job_->why;
    message += "; " + from().str() + " is in force.";
    if (!roster_.all_on(from()))
        message += " Not there: " + roster_.others_than(from()) + ". They are told again when they answer.";
    finish(job_->cancelled ? Result::cancelled : Result::failed, message);
}

void Flow::settle() {
    // Who was stopped when a job went back, say, and did what it had been told before.
    for (auto& [who, process] : roster_.all())
        for (auto& [id, front] : process.fronts) {
            const auto had_been_asked = front.asked.size();
            bring(who, id, front, in_force_);
            if (had_been_asked == 0 && !front.asked.empty())
                tell(true, name_of(who) + " runs " + front.runs->str() + ", and " + in_force_.str() +
                               " is in force: it is told to go over");
        }
}

}  // namespace cgpu::upgrade
