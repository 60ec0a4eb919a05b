#include "core/upgrade/flow.hpp"

#include <algorithm>
#include <utility>

#include "core/model/counted.hpp"
#include "core/model/reason_in.hpp"

namespace cgpu::upgrade {
namespace {

using model::reason_in;

/// Puts the job's target into the version or the mode, whichever it is.
template <class AnyVersion>
void put_in_force(const Job& job, AnyVersion& version, std::optional<model::Mode>& mode,
                  std::optional<ModeUntilReboot>& until_reboot) {
    if (const auto* new_version = std::get_if<Version>(&job.to)) {
        version = *new_version;
        return;
    }
    if (!job.until_reboot)
        until_reboot.reset();
    else if (!until_reboot)
        until_reboot = ModeUntilReboot{job.boot_id, mode};
    mode = job.configured ? std::nullopt : std::optional(std::get<model::Mode>(job.to));
    if (until_reboot && until_reboot->then == mode) until_reboot.reset();
}

}  // namespace

Flow::Flow(Record record, const Version& in_force, Settings settings)
    : settings_(settings),
      in_force_(record.in_force.value_or(in_force)),
      mode_(record.mode),
      mode_until_reboot_(std::move(record.mode_until_reboot)),
      job_(std::move(record.job)),
      last_(std::move(record.last)),
      step_(job_ ? Step::stage : Step::ended),
      mover_(settings.busy_pause, settings.switch_deadline_ms) {}

Actions Flow::step(const Event& event, Nanos now) {
    now_ = now;
    std::visit([this](const auto& happened) { on(happened); }, event);
    pump();
    return std::exchange(actions_, {});
}

std::optional<Nanos> Flow::wake(Nanos now) const {
    if (save_again_ != 0) return save_again_;
    const std::optional<Nanos> again = mover_.wake(now);
    if (!job_ || step_ == Step::stage || step_ == Step::commit) return again;
    return again ? std::min(*again, job_->deadline) : job_->deadline;
}

const Version& Flow::for_new() const {
    const bool there = job_ && job_->kind == Kind::hot && !job_->back && step_ != Step::stage;
    return there ? to() : in_force_;
}

bool Flow::can_cancel() const {
    return job_ && !ending_ && (going() || step_ == Step::drain || step_ == Step::stage);
}

Flow::Status Flow::status() const {
    if (!job_) {
        if (!last_) return {};
        return {last_->id,     last_->kind,  last_->from, last_->to,     Step::ended,
                last_->result, done_at_end_, all_at_end_, last_->message};
    }
    Status status{job_->id, job_->kind, job_->from, job_->to, step_, std::nullopt, 0, 0, ""};
    if (job_->kind != Kind::hot) {
        status.all = most_instances_;
        status.done = most_instances_ - instances_;
        if (instances_ > 0)
            status.message = "waits for " + model::counted(instances_, "instance") + " to end";
    } else {
        const Version& there = job_->back ? from() : to();
        status.all = roster().all().size();
        status.done = roster().count_on(there);
        status.message = job_->why;
        if (status.done < status.all)
            status.message += (job_->why.empty() ? "" : ". ") + roster().others_than(there, 3);
    }
    if (!save_trouble_.empty()) status.message = save_trouble_;
    return status;
}

std::string Flow::title() const { return title_of(job_->id, job_->kind, job_->from, job_->to); }

void Flow::save(After after) {
    after_ = after;
    Record record{in_force_, mode_, job_, last_, mode_until_reboot_};
    const bool done = ending_ && ending_->result == Result::done;
    if (ending_) {
        record.job.reset();
        record.last = ending_;
    }
    if (done) put_in_force(*job_, record.in_force, record.mode, record.mode_until_reboot);
    actions_.emplace_back(Save{std::move(record), done && job_->configured});
}

void Flow::on(const Start& start) {
    target_ = start.to;
    mover_.roster().forgive();
    Job job;
    job.kind = start.kind;
    job.from = in_force_;
    job.to = start.to.version;
    job.timeout = start.timeout;
    job.boot_id = start.boot_id;
    begin(std::move(job));
}

void Flow::on(const StartMode& start) {
    Job job;
    job.kind = Kind::mode;
    job.from = start.from;
    job.to = start.to;
    job.timeout = start.timeout;
    job.boot_id = start.boot_id;
    job.configured = start.configured;
    job.until_reboot = start.until_reboot;
    begin(std::move(job));
}

void Flow::begin(Job job) {
    job.id = (last_ ? last_->id : 0) + 1;
    job.deadline = now_ + job.timeout;
    job_ = std::move(job);
    step_ = Step::stage;
    most_instances_ = instances_;
    save(After::start);
}

void Flow::on(const Resume& resume) {
    mover_.resume(now_);
    end_of_boot(resume.boot_id);
    if (!job_ || ending_) return;
    if (job_->boot_id != resume.boot_id) {
        job_->boot_id = resume.boot_id;
        job_->deadline = now_ + (job_->back ? settings_.back_timeout : job_->timeout);
    }
    most_instances_ = instances_;
    tell(false, title() + ": taken up again, it was going " + (job_->back ? "back" : "there"));
    if (job_->kind != Kind::hot) {
        step_ = Step::drain;
    } else if (job_->back) {
        step_ = Step::back;
    } else {
        verifying_ = true;
        actions_.emplace_back(Verify{to()});
    }
}

void Flow::end_of_boot(const std::string& boot_id) {
    const bool mode_ends = mode_until_reboot_ && mode_until_reboot_->boot_id != boot_id;
    if (mode_ends) {
        mode_ = mode_until_reboot_->then;
        mode_until_reboot_.reset();
        tell(false,
             "mode: the one that was set until the reboot has ended, and " +
                 (mode_ ? std::string(model::to_string(*mode_)) : "the configuration's") + " holds again",
             Tell::About::boot);
    }
    if (job_ && job_->until_reboot && job_->boot_id != boot_id)
        finish(Result::failed, "The reboot came before it; " +
                                   (mode_ ? std::string(model::to_string(*mode_)) : "the configuration's") +
                                   " mode stays in force.");
    else if (mode_ends)
        save(After::nothing);
}

void Flow::on(const Cancel&) {
    if (!can_cancel()) return;
    if (job_->kind != Kind::hot)
        finish(Result::cancelled, "It was cancelled; " + to_string(job_->from) + " stays in force.");
    else
        turn_round(true, "it was cancelled");
}

void Flow::on(const Saved& saved) {
    const After after = std::exchange(after_, After::nothing);
    save_trouble_ = saved.trouble;
    switch (after) {
        case After::nothing:
            // It comes again when the next cgpud starts in this boot.
            if (!saved.trouble.empty()) tell(true, saved.trouble);
            save_trouble_.clear();
            return;
        case After::start:
            if (!saved.trouble.empty()) {
                job_.reset();
                save_trouble_.clear();
                return;
            }
            // A switch of the mode for which nobody has to end is done at once.
            tell(false, title() + ": begun",
                 job_->kind == Kind::mode && instances_ == 0 ? Tell::About::step : Tell::About::begin);
            step_ = job_->kind == Kind::hot ? Step::canary : Step::drain;
            return;
        case After::back:
            // The job is rolled back all the same: a daemon that is killed meanwhile would only start again.
            save_trouble_.clear();
            if (!saved.trouble.empty()) tell(true, saved.trouble);
            return;
        case After::end:
            break;
    }
    if (saved.trouble.empty()) {
        actions_.emplace_back(
            Tell{ending_->result == Result::failed,
                 title() + ": " + std::string(to_string(ending_->result)) + ". " + ending_->message,
                 Tell::About::end, ending_->result == Result::done});
        if (ending_->result == Result::done) put_in_force(*job_, in_force_, mode_, mode_until_reboot_);
        last_ = std::exchange(ending_, std::nullopt);
        job_.reset();
        step_ = Step::ended;
        actions_.emplace_back(Over{*last_});
    } else if (ending_->result == Result::done) {
        ending_.reset();
        save_trouble_.clear();
        if (job_->kind == Kind::hot) return turn_round(false, reason_in(saved.trouble));
        finish(Result::failed, reason_in(saved.trouble) + "; " + to_string(job_->from) + " stays in force.");
    } else if (ending_->result == Result::cancelled && job_->kind != Kind::hot) {
        // Nobody has been told that it was cancelled, and the next cgpud would go on with it.
        ending_.reset();
        save_trouble_.clear();
    } else {
        save_again_ = now_ + settings_.save_pause;
    }
}

void Flow::on(const Verified& verified) {
    if (!std::exchange(verifying_, false)) return;
    if (job_->kind == Kind::cold) {
        if (verified.manifest)
            finish(Result::done, to_string(job_->to) + " is in force.");
        else
            finish(Result::failed,
                   reason_in(verified.manifest.error()) + "; " + to_string(job_->from) + " stays in force.");
    } else if (verified.manifest) {
        target_ = *verified.manifest;
        step_ = Step::canary;
    } else {
        turn_round(false, reason_in(verified.manifest.error()));
    }
}

void Flow::on(const Connected& connected) {
    mover_.roster().connected(connected.who, connected.front, connected.version);
}

void Flow::on(const Gone& gone) {
    if (mover_.roster().gone(gone.who) && going() && !ending_)
        turn_round(false, name_of(gone.who) + " ended while it went over");
}

void Flow::on(const Said& said) {
    const auto trouble = mover_.said(said, now_);
    if (!trouble) return;
    if (going() && !ending_)
        turn_round(false, *trouble);
    else
        tell(true, *trouble);
}

void Flow::on(const Instances& instances) {
    instances_ = instances.count;
    most_instances_ = std::max(most_instances_, instances_);
}

void Flow::pump() {
    if (after_ != After::nothing || verifying_) return;
    if (!job_) return mover_.settle(in_force_, now_, actions_);
    if (ending_) {
        if (save_again_ != 0 && now_ >= save_again_) {
            save_again_ = 0;
            save(After::end);
        }
        return;
    }
    switch (step_) {
        case Step::canary:
        case Step::all:
            return forward();
        case Step::back:
            return backward();
        case Step::drain:
            return drain();
        case Step::stage:
        case Step::commit:
        case Step::ended:
            return;
    }
}

void Flow::drain() {
    if (instances_ == 0 && job_->kind == Kind::mode) {
        finish(Result::done, to_string(job_->to) + (job_->configured     ? " is in force, as configured."
                                                    : job_->until_reboot ? " is in force, until the reboot."
                                                                         : " is in force."));
    } else if (instances_ == 0) {
        verifying_ = true;
        actions_.emplace_back(Verify{to()});
    } else if (now_ >= job_->deadline) {
        finish(Result::failed, model::counted(instances_, "instance") + " had not ended in time; " +
                                   to_string(job_->from) + " stays in force.");
    }
}

void Flow::finish(Result result, const std::string& message) {
    const bool hot = job_->kind == Kind::hot;
    all_at_end_ = hot ? roster().all().size() : most_instances_;
    done_at_end_ =
        hot ? roster().count_on(result == Result::done ? to() : from()) : most_instances_ - instances_;
    ending_ = Ended{job_->id, job_->kind, job_->from, job_->to, result, message};
    if (result == Result::done && hot) step_ = Step::commit;
    save(After::end);
}

// The part of a hot job that moves running processes.

void Flow::forward() {
    if (const auto trouble = mover_.who_cannot(to(), target_->least_front))
        return turn_round(false, *trouble);
    if (now_ >= job_->deadline)
        return turn_round(false, "not all went over in time: " + roster().others_than(to()));
    if (step_ == Step::canary) {
        if (const auto first = mover_.move_first(to(), now_, actions_)) {
            tell(false, title() + ": " + name_of(*first) + " went over first");
            step_ = Step::all;
        }
    }
    if (step_ == Step::all) mover_.move_all(to(), now_, actions_);
    if (!roster().all_on(to())) return;
    const auto count = roster().all().size();
    finish(Result::done, to().str() + " is in force" +
                             (count == 0 ? "." : " in " + model::counted(count, "running process") + "."));
}

void Flow::turn_round(bool cancelled, const std::string& why) {
    job_->back = true;
    job_->cancelled = cancelled;
    job_->why = why;
    job_->deadline = now_ + settings_.back_timeout;
    step_ = Step::back;
    mover_.start_anew();
    tell(!cancelled, title() + ": goes back: " + why, Tell::About::back);
    save(After::back);
}

void Flow::backward() {
    const bool waits = mover_.move_back(from(), now_, actions_);
    if (!waits || now_ >= job_->deadline) finish_back();
}

void Flow::finish_back() {
    std::string message = job_->cancelled ? "It was cancelled" : "It went back, because " + job_->why;
    message += "; " + from().str() + " is in force.";
    if (!roster().all_on(from()))
        message += " Not there: " + roster().others_than(from()) + ". They are told again when they answer.";
    finish(job_->cancelled ? Result::cancelled : Result::failed, message);
}

}  // namespace cgpu::upgrade
