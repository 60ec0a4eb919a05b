#include "core/queue/next.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/queue/base/shape.hpp"
#include "core/queue/needs.hpp"
#include "core/queue/places.hpp"

namespace cgpu::queue {
namespace {

/// What each GPU lacks now that it could use and that hasn't room for it.
std::shared_ptr<const std::vector<Lack>> lacks_of(const Forecast& forecast, const Needs& needs) {
    std::vector<Lack> lacks;
    const GpuSet room = forecast.room_for(needs, 0, forecast.at(0));
    const bool have_room = static_cast<std::size_t>(std::ranges::count(room, true)) >= needs.count;
    for (std::size_t gpu = 0; gpu < room.size(); ++gpu) {
        const auto& need = needs.on[gpu];
        // Of several that it needs, some may have room; if all have, admission objects to something else.
        if (!need || (room[gpu] && !have_room)) continue;
        const model::Gpu& its = forecast.gpus()[gpu];
        const Room& there = forecast.room_at(0, gpu);
        Lack lack{its.uuid, Lack::What::otherwise, need->memory, forecast.free_of(there, gpu),
                  there.instances};
        if (lack.free < lack.needed)
            lack.what = Lack::What::memory;
        else if (there.instances >= its.settings.max_inst)
            lack.what = Lack::What::place;
        else if (there.exclusive > 0 || (need->whole && there.instances > 0))
            lack.what = Lack::What::company;
        lacks.push_back(lack);
    }
    return std::make_shared<const std::vector<Lack>>(std::move(lacks));
}

/// What is known of all requests of one shape under one owner's limits.
struct Known {
    std::shared_ptr<const Needs> needs;
    std::uint64_t changes = 0;  ///< of what the owner has, when the needs were found out
    std::optional<Wait> waits;  ///< none of them can start any more, because of this
    bool has_closed = false;    ///< one has closed what it could use, so no other one gets a place
};

class Pass {
  public:
    Pass(const Situation& situation, const Bounds& bounds)
        : situation_(situation),
          bounds_(bounds),
          running_(situation.node, situation.ends, situation.now),
          forecast_(running_),
          cleared_(cleared(situation.node)),
          closings_(situation.node.gpus().size()),
          owners_(situation.node, situation.allowance_of),
          planner_(situation.defaults, bounds.plans) {}

    Decision run() {
        std::size_t position = 0;
        for (const Waiting* waiting : situation_.order) {
            ++position;
            if (is_over())
                wait(*waiting, {.why = Why::turn, .behind = first_});
            else
                consider(*waiting);
            if (!decision_.waits.empty() && decision_.waits.back().ticket == waiting->ticket)
                decision_.waits.back().position = position;
        }
        decision_.more = exhausted();
        decision_.plans = planner_.plans();
        for (const Reserved& each : reserved_) {
            Wait& wait = decision_.waits[each.wait];
            wait.at_latest = each.slot.from;
            for (const model::Quota& quota : each.slot.grant.quotas) wait.gpus.push_back(quota.gpu);
        }
        return std::move(decision_);
    }

  private:
    void wait(const Waiting& waiting, Wait why) {
        why.ticket = waiting.ticket;
        decision_.waits.push_back(std::move(why));
    }

    [[nodiscard]] bool exhausted() const {
        return planner_.exhausted() || decision_.shapes >= bounds_.shapes;
    }
    /// Nobody can start any more: too much was asked, or those before have closed every GPU that takes
    /// anybody.
    [[nodiscard]] bool is_over() const {
        if (exhausted() || is_asked_about_) return true;
        bool any = false;
        for (std::size_t gpu = 0; gpu < closings_.size(); ++gpu) {
            const model::Gpu& its = running_.gpus()[gpu];
            if (!its.present || its.drained || !its.obstacle.empty()) continue;
            if (closings_[gpu].until > situation_.now) return false;
            any = true;
        }
        return any;
    }

    [[nodiscard]] static const limits::Allowance* allowance(const Owners::One* owner) {
        return owner == nullptr ? nullptr : &owner->allowance;
    }

    void find_out(Known& known, const Waiting& waiting, const Owners::One* owner) {
        ++decision_.shapes;
        known.needs =
            std::make_shared<const Needs>(needs_of(cleared_, waiting, situation_.defaults, allowance(owner)));
        known.changes = owner == nullptr ? 0 : owner->changes;
    }

    void consider(const Waiting& waiting) {
        const auto found = owners_.of(waiting.owner);
        if (!found) {
            const model::Refusal& refusal = found.error();
            wait(waiting,
                 {.why = Why::limits, .limit = model::Objection{refusal.reason, "", refusal.text, ""}});
            is_asked_about_ = refusal.reason == model::Refusal::Reason::try_again;
            if (is_asked_about_ && !first_) first_ = waiting.ticket;
            return;
        }
        Owners::One* owner = *found;
        if (owner != nullptr && owner->held_back) {
            const auto& [first, objection] = *owner->held_back;
            wait(waiting, {.why = Why::limits, .behind = first, .limit = objection});
            return;
        }
        auto& of_owner = known_[owner];
        Known& known = of_owner[shape_of(waiting, situation_.defaults)];
        if (!known.needs) find_out(known, waiting, owner);
        if (!known.needs->managed) {
            decision_.starts.push_back({waiting.ticket, {}});
            return;
        }
        if (!known.waits && start(waiting, *known.needs, owner)) return;
        if (exhausted()) {
            wait(waiting, {.why = Why::turn, .behind = first_});
            return;
        }
        if (!known.waits || (owner != nullptr && owner->changes != known.changes && !known.has_closed))
            find_out_why(waiting, known, owner);
        wait(waiting, *known.waits);
        if (known.waits->why == Why::gpus) return;
        if (known.waits->why == Why::limits) {
            owner->held_back = {waiting.ticket, *known.waits->limit};
            return;
        }
        if (!first_) first_ = waiting.ticket;
        reserve(waiting, known, owner);
    }

    [[nodiscard]] Scene scene() const { return {running_, forecast_, reserved_}; }

    bool start(const Waiting& waiting, const Needs& needs, Owners::One* owner) {
        const Ask ask{&waiting, &needs, allowance(owner)};
        auto slot = find_slot(planner_, scene(), ask, closings_, 0, situation_.now).slot;
        if (!slot) return false;
        running_.add(slot->placed());
        forecast_.add(slot->placed());
        Owners::started(owner, waiting, slot->grant.quotas);
        decision_.starts.push_back({waiting.ticket, std::move(slot->grant)});
        return true;
    }

    void find_out_why(const Waiting& waiting, Known& known, Owners::One* owner) {
        if (owner != nullptr && owner->changes != known.changes) find_out(known, waiting, owner);
        const Needs& needs = *known.needs;
        if (needs.limit)
            known.waits = Wait{.why = Why::limits, .limit = needs.limit};
        else if (!needs.fits_alone())
            known.waits = Wait{.why = Why::gpus};
        else if (!known.waits)
            known.waits = why_not_now(waiting, needs, owner);
    }

    [[nodiscard]] Wait why_not_now(const Waiting& waiting, const Needs& needs, const Owners::One* owner) {
        const Ask ask{&waiting, &needs, allowance(owner)};
        const Closings open(closings_.size());
        const auto slot = first_ ? planner_.at(running_, ask, open, 0) : std::nullopt;
        if (!slot && owner != nullptr)
            // There may be room on GPUs that its owner may not have together with those that it has.
            if (const auto other = planner_.at(running_, {&waiting, &needs, nullptr}, open, 0))
                if (const auto checked = owner->allowance.check_instance(other->grant.quotas); !checked)
                    return {.why = Why::limits, .limit = checked.error()};
        if (!slot) return {.why = Why::room, .lacks = lacks_of(running_, needs)};
        for (const model::Quota& quota : slot->grant.quotas)
            if (const Closed& closed = closings_[*running_.place_of(quota.gpu)]; closed.until < slot->until)
                return {.why = Why::turn, .behind = closed.by};
        for (const Reserved& each : reserved_)
            if (touches(running_, *each.needs, *slot))
                return {.why = Why::turn, .behind = each.waiting->ticket};
        return {.why = Why::turn, .behind = first_};
    }

    /// It gets a place in the forecast, or closes what it could use to those behind it. It is the last that
    /// waits until now.
    void reserve(const Waiting& waiting, Known& known, Owners::One* owner) {
        const Ask ask{&waiting, known.needs.get(), allowance(owner)};
        Search search{std::nullopt, false};
        if (!known.has_closed) search = find_slot(planner_, scene(), ask, closings_, 1, kNever);
        if (search.slot && reserved_.size() < bounds_.reservations) {
            Owners::keep_back(owner, search.slot->grant.quotas, true);
            forecast_.add(search.slot->placed());
            reserved_.push_back(
                {&waiting, known.needs, closings_, std::move(*search.slot), decision_.waits.size() - 1});
            return;
        }
        Owners::keep_back(owner, known.needs->alone, false);
        if (known.has_closed) return;
        known.has_closed = true;
        Nanos until = running_.not_before(*known.needs);
        if (search.of_all)
            if (const Nanos known_until = until_unknown(*known.needs, search.slot); known_until > until) {
                until = known_until;
                for (std::size_t gpu = 0; gpu < closings_.size(); ++gpu)
                    if (matters(*known.needs, gpu))
                        closings_[gpu].calm_until = std::max(closings_[gpu].calm_until, until);
            }
        for (std::size_t gpu = 0; gpu < closings_.size(); ++gpu)
            if (known.needs->on[gpu] && until < closings_[gpu].until) {
                closings_[gpu].until = until;
                closings_[gpu].by = waiting.ticket;
            }
    }

    /// Whether it could use the GPU, or one with a place could, which may then be elsewhere.
    [[nodiscard]] bool matters(const Needs& needs, std::size_t gpu) const {
        return needs.on[gpu] || std::ranges::any_of(reserved_, [&](const Reserved& each) {
                   return each.needs->on[gpu].has_value();
               });
    }

    /// Until then all is known of the GPUs that matter to it, so it can't start before: it has no other slot.
    [[nodiscard]] Nanos until_unknown(const Needs& needs, const std::optional<Slot>& slot) const {
        Nanos until = slot ? slot->from : kNever;
        for (const Reserved& each : reserved_)
            if (each.slot.until == kNever) until = std::min(until, each.slot.from);
        for (std::size_t gpu = 0; gpu < closings_.size(); ++gpu) {
            if (!matters(needs, gpu)) continue;
            if (running_.has_unknown(gpu)) return situation_.now;
            until = std::min(until, closings_[gpu].until);
        }
        return until;
    }

    const Situation& situation_;
    Bounds bounds_;
    Forecast running_;   ///< what runs, with those who start
    Forecast forecast_;  ///< the same, with those who have a place
    model::Node cleared_;
    Closings closings_;
    Owners owners_;
    Planner planner_;
    std::unordered_map<Owners::One*, std::unordered_map<std::string, Known>> known_;
    std::vector<Reserved> reserved_;
    std::optional<Ticket> first_;  ///< the first that waits for room
    /// It will be known soon which rules hold for the last one.
    bool is_asked_about_ = false;
    Decision decision_;
};

}  // namespace

Decision next(const Situation& situation, const Bounds& bounds) { return Pass(situation, bounds).run(); }

}  // namespace cgpu::queue
