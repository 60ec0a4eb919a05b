#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/admission/admit.hpp"
#include "core/queue/base/order.hpp"
#include "core/queue/forecast.hpp"
#include "core/queue/owners.hpp"

namespace cgpu::queue {

/// How much one decision may cost.
struct Bounds {
    /// Of those who wait for room, the first so many get a place in the forecast: GPUs, and from when on.
    /// Those behind them may start beside these places. Whoever waits and has none closes all GPUs that it
    /// could use for those behind it, except for what certainly ends before it could start.
    std::size_t reservations = 8;
    /// How often admission is asked about the node. Those who would come after that wait.
    std::size_t plans = 64;
    /// How many shapes of requests are looked at. Those who would come after that wait.
    std::size_t shapes = 128;
};

/// What is asked: who of those who wait may start. Everything outlives the call.
struct Situation {
    const model::Node& node;
    const Ends& ends;  ///< on the clock of `now`
    Nanos now = 0;
    const Order& order;
    /// The node's; its allowance isn't read.
    const admission::Defaults& defaults;
    /// Of owners; empty: there are no limits.
    const AllowanceOf& allowance_of;
};

struct Start {
    Ticket ticket = 0;
    admission::Grant grant;  ///< without quotas: it isn't managed
};

/// What a GPU lacks for a request that waits for room.
struct Lack {
    enum class What {
        memory,     ///< less is free than it needs
        place,      ///< it has as many instances as it takes
        company,    ///< one has the whole GPU, or the request needs it whole
        otherwise,  ///< it serves another mode, or what admission says of it
    };
    model::Uuid gpu;
    What what = What::memory;
    model::Bytes needed;
    model::Bytes free;
    std::uint32_t instances = 0;  ///< that are there

    friend bool operator==(const Lack&, const Lack&) = default;
};

/// Why a request waits.
enum class Why {
    room,    ///< too few of the GPUs that it could use have room for it now
    turn,    ///< there may be room, but it would delay the one that it stands behind
    limits,  ///< its owner has what the limits allow; it holds up those of the same owner alone
    gpus,    ///< too few GPUs that could take it are there and take anybody; it holds up nobody
};

/// One that stays in the queue.
struct Wait {
    Ticket ticket = 0;
    std::size_t position = 0;  ///< from 1, of all that wait
    Why why = Why::room;
    /// turn: the one that it would delay; empty: the decision came to its bounds before anybody waited for
    /// room. limits: the first one of the owner that they hold back, if it isn't this one.
    std::optional<Ticket> behind = std::nullopt;
    /// room: what each of the GPUs lacks that it could use.
    std::shared_ptr<const std::vector<Lack>> lacks = nullptr;
    /// limits: what they say of the first one of the owner; if nobody knows which ones hold, why.
    std::optional<model::Objection> limit = std::nullopt;
    /// When it starts at the latest, if what runs keeps to its time limits and nobody comes before it; empty:
    /// the time limits don't say. Behind Bounds::reservations it isn't known either.
    std::optional<Nanos> at_latest = std::nullopt;
    std::vector<model::Uuid> gpus = {};  ///< where, then
};

struct Decision {
    /// In this order. Each grant is admission's on the node that has those before it.
    std::vector<Start> starts;
    std::vector<Wait> waits;  ///< in the order of the queue
    /// It came to its bounds, so more may start when those have.
    bool more = false;
    /// What it cost: how often admission was asked about the node, and how many shapes were looked at.
    std::size_t plans = 0;
    std::size_t shapes = 0;
};

/// Goes through the queue in its order. Whoever fits starts. Whoever doesn't, and waits for room, is passed
/// only by those that delay neither it nor anybody else before them:
///
/// - on GPUs that it could not use even if they were empty;
/// - if it has a place in the forecast: by what leaves it that place. So it starts then at the latest, with
///   no less of the compute, as long as what runs keeps to its time limits;
/// - by what ends, by its own time limit, before it could start, whatever ends at an unknown moment.
///
/// Each is placed by admission. GPUs that are drained or lost take nobody.
///
/// Whoever waits for GPUs that aren't there holds up nobody. Whoever waits for its owner's limits holds up
/// those of the same owner behind it, which would take what it waits for, and nobody else. Nobody has a claim
/// to a GPU on which its owner may have nothing more now. As long as it is being found out which limits hold
/// for one (AllowanceOf: try_again), nobody behind it starts.
///
/// A request that doesn't wait must be asked about at the end of the queue, or it passes everybody.
[[nodiscard]] Decision next(const Situation& situation, const Bounds& bounds = {});

}  // namespace cgpu::queue
