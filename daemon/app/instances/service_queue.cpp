#include <utility>

#include "core/admission/admit.hpp"
#include "core/admission/plan.hpp"
#include "core/queue/could_fit.hpp"
#include "daemon/app/instances/service.hpp"
#include "daemon/app/ports/log.hpp"

/// Requests that wait until there is room for them.
namespace cgpu::app {
namespace {

using model::Refusal;

/// It is refused for what others have now.
bool may_pass(const Refusal& refusal) {
    switch (refusal.reason) {
        case Refusal::Reason::no_memory:
        case Refusal::Reason::no_space:
        case Refusal::Reason::busy:
        case Refusal::Reason::try_again:
            return true;
        default:
            return false;
    }
}

/// What a request is made of; a job's environment has much more.
std::map<std::string, std::string> kept_of(const std::map<std::string, std::string>& variables) {
    std::map<std::string, std::string> kept;
    for (const auto& [name, value] : variables)
        if (request::belongs_to_request(name)) kept.emplace(name, value);
    return kept;
}

model::Instance instance_of(const model::InstanceId& id, const Asked& asked, const model::Owner& owner,
                            std::uint64_t now) {
    model::Instance instance{id, asked.name, 0, now, model::Mode::none, {}, std::nullopt};
    instance.creator = asked.caller.user;
    instance.image = asked.origin.image;
    instance.owner = owner;
    if (asked.hold) instance.reservation = model::Reservation{asked.hold->token};
    return instance;
}

}  // namespace

NodeFollowers Service::followers() {
    auto all = outside_.followers;
    all.emplace_back(ends_);
    if (outside_.queue != nullptr) {
        queue_.emplace(queue_outside(*outside_.queue));
        all.emplace_back(*queue_);
    }
    return all;
}

AdmissionQueue::Outside Service::queue_outside(QueueStore& store) {
    AdmissionQueue::Outside outside{outside_.loop,
                                    outside_.processes,
                                    store,
                                    outside_.publisher,
                                    outside_.events,
                                    [this]() -> const model::Node& { return node(); },
                                    [this] { return defaults_now(); },
                                    [this]() -> Result<void> {
                                        if (auto open = outside_.admission.open(); !open) return open;
                                        return state_.writable();
                                    },
                                    {},
                                    [](const model::Owner&) {}};
    outside.recent_use = outside_.recent_use;
    outside.ends = [this] { return ends_.known(); };
    if (outside_.start_refused)
        outside.given_up = [this](const QueuedRequest& request) {
            const auto& instance = request.instance;
            outside_.start_refused(instance.name.empty() ? instance.id.str() : instance.name, instance.owner);
        };
    if (outside_.limits != nullptr) {
        outside.allowance_of = [this](const model::Node& node, const model::Owner& owner) {
            return outside_.limits->allowance(node, owner);
        };
        outside.prepare = [this](const model::Owner& owner) {
            // Not after a failure: it would be asked without a pause.
            outside_.limits->prepare(owner, [this](const Result<void>& known) {
                if (known) queue_->look_soon();
            });
        };
    }
    return outside;
}

admission::Defaults Service::defaults_now() const {
    auto defaults = settings_.defaults;
    defaults.default_memory = default_memory();
    defaults.mode = outside_.admission.mode();
    return defaults;
}

queue::Waiting Service::waiting_of(const Asked& asked, const request::Request& request,
                                   const model::Owner& owner,
                                   const std::optional<model::TimeLimit>& time) const {
    queue::Waiting waiting;
    waiting.owner = owner;
    waiting.request = request;
    waiting.priority = request.high_priority.value_or(false) ? 1 : 0;
    waiting.asked_at = outside_.loop.now();
    // A reservation may be taken over in its last moment.
    if (time)
        waiting.length = static_cast<Nanos>(time->seconds + (asked.hold ? asked.hold->seconds : 0)) * kSecond;
    if (request.wait && *request.wait != request::kForever)
        waiting.deadline = waiting.asked_at + *request.wait;
    return waiting;
}

/// Whoever asks while others wait must not pass them, whether or not it would wait itself.
Result<admission::Grant> Service::grant_for(const model::InstanceId& id, const queue::Waiting& waiting,
                                            const admission::Defaults& defaults) const {
    if (!queue_ || queue_->empty()) return admission::admit(node(), waiting.request, defaults);
    if (queue_->find(id) == nullptr)
        if (auto alone = admission::admit(node(), waiting.request, defaults); !alone || !alone->managed())
            return alone;
    return queue_->grant_in_turn(id, waiting);
}

bool Service::may_unqueue(std::string_view id, const Caller& caller) const {
    const auto parsed = model::InstanceId::parse(id);
    const auto* queued = queue_ && parsed ? queue_->find(*parsed) : nullptr;
    return queued == nullptr || queued->user() == caller.user;
}

/// What the variables don't say.
Result<void> Service::complete(request::Request& request, const model::Instance& instance) const {
    if (auto known = request::apply_profile(request, settings_.profiles); !known) return known;
    request.container_name = instance.name;
    request.kept = node().kept_of(instance.creator.value_or(model::kNobody), instance.id, instance.name);
    return {};
}

void Service::adopt_queue(std::vector<QueuedRequest> saved) {
    if (!queue_) return;
    // One that has started just before cgpud ended.
    std::erase_if(saved, [&](const QueuedRequest& each) {
        const bool started = node().find_instance(each.id()) != nullptr;
        if (started) outside_.queue->remove(each.id());
        return started;
    });
    for (auto& each : saved)
        if (const auto known = complete(each.waiting.request, each.instance); !known)
            log::warn("{}: waits for what it asks itself, without its profile: {}",
                      model::describe(each.instance), known.error().text);
    queue_->adopt(std::move(saved));
}

Result<model::InstanceId> Service::find_instance(std::string_view instance, const Naming& naming) const {
    std::vector<const model::Instance*> all;
    for (const auto& [id, each] : node().instances()) all.push_back(&each);
    if (queue_)
        for (const auto* queued : queue_->instances()) all.push_back(queued);
    return app::find_instance(all, instance, naming);
}

std::string Service::asked_for(const QueuedRequest& request) const {
    return admission::describe(request.waiting.request, defaults_now());
}

bool Service::waits(const Asked& asked) const {
    const auto id = model::InstanceId::parse(asked.id);
    if (!queue_ || !id || !queue_->is_waiting_for(*id, asked.caller.user, asked.caller.process)) return false;
    const auto& queued = *queue_->find(*id);
    const auto owner = owner_of(asked);
    return queued.instance.name == asked.name && queued.instance.owner == owner &&
           queued.instance.image == asked.origin.image && queued.variables == kept_of(asked.variables) &&
           queued.instance.reservation ==
               (asked.hold ? std::optional(model::Reservation{asked.hold->token}) : std::nullopt);
}

void Service::before_creation(const Asked& asked, AdmissionQueue::Done done) {
    prepare(owner_of(asked), [this, asked, done = std::move(done)](const Result<void>& known) {
        if (known) return wait_for_turn(asked, done);
        admission_refused(asked.id, asked.name, asked.caller, owner_of(asked), known.error());
        done(known);
    });
}

/// A request that doesn't wait, or needn't, is called back at once.
void Service::wait_for_turn(const Asked& asked, AdmissionQueue::Done done) {
    auto request = request::parse_request(asked.variables);
    const auto id = model::InstanceId::parse(asked.id);
    const bool may_wait =
        queue_ && id && request && *request && (*request)->wait && (*request)->reservation.empty();
    if (!may_wait || asked.options.dry_run) return done({});
    if (waits(asked)) return queue_->come_back(*id, std::move(done));
    // Nobody waits for an id that another one has, or had.
    const auto had = lifetimes_.ended_ids().user_of(*id);
    const bool is_others = had && *had != asked.caller.user && asked.caller.user != 0;
    if (node().find_instance(*id) != nullptr || is_others) return done({});
    auto trial = asked;
    trial.options.dry_run = true;
    const auto tried = try_to_create(trial);
    // What is wrong with it is said by the call itself.
    if (tried || !may_pass(tried.error())) return done({});
    const auto owner = owner_of(asked);
    auto instance = instance_of(*id, asked, owner, outside_.wall_clock());
    if (!complete(**request, instance)) return done({});
    const auto allowance = allowance_of(owner);
    if (!allowance) return done({});
    const auto time = time_of_new(*id, asked.name, **request, *allowance ? &**allowance : nullptr);
    if (!time) return done({});
    const auto waiting = waiting_of(asked, **request, owner, *time);
    const auto refused = [&](const Refusal& refusal) {
        admission_refused(asked.id, asked.name, asked.caller, owner, refusal);
        done(tl::unexpected(refusal));
    };
    const auto allowance_on = [this](const model::Node& node, const model::Owner& whose) {
        return outside_.limits == nullptr ? Result<std::optional<limits::Allowance>>(std::nullopt)
                                          : outside_.limits->allowance(node, whose);
    };
    if (const auto could = queue::could_fit(node(), waiting, defaults_now(), allowance_on); !could)
        return refused(could.error());
    if (const auto room = queue_->check_room(asked.caller.user); !room) return refused(room.error());
    queue_->add(
        {waiting, std::move(instance), asked.caller.process, kept_of(asked.variables), tried.error().reason},
        std::move(done));
}

}  // namespace cgpu::app
