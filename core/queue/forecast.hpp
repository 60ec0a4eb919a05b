#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/model/node.hpp"
#include "core/queue/needs.hpp"

namespace cgpu::queue {

/// When instances end at the latest: their time limits. Of one that isn't in it nobody knows. A moment that
/// has passed means that it is to end now.
using Ends = std::map<model::InstanceId, Nanos>;

/// What is on the GPUs from `from` on, and not any more at `until` (kNever: it isn't known when that is).
struct Placed {
    model::Mode mode = model::Mode::memory_compute;
    std::vector<model::Quota> quotas;
    Nanos from = 0;
    Nanos until = kNever;
};

/// By the place of a GPU in Node::gpus().
using GpuSet = std::vector<bool>;

/// What is on a GPU at a moment.
struct Room {
    model::Bytes memory;  ///< the sum of the limits
    std::uint32_t weight = 0;
    std::uint16_t instances = 0;
    std::uint16_t exclusive = 0;                ///< of these
    std::array<std::uint16_t, 3> of_mode = {};  ///< of these, by their mode
};

/// What is on the GPUs now and later, if what is there ends at its time limit, and what has none doesn't end.
///
/// It keeps the sums for each GPU and moment, and passes over moments and GPUs that don't have the room.
/// Where a request is put is admission's decision, on a node with these sums.
class Forecast {
  public:
    Forecast(const model::Node& node, const Ends& ends, Nanos now);

    /// It fits on the node at each of its moments.
    void add(const Placed& placed);

    [[nodiscard]] const std::vector<model::Gpu>& gpus() const { return gpus_; }
    [[nodiscard]] std::optional<std::size_t> place_of(const model::Uuid& gpu) const;
    /// Of that GPU's memory.
    [[nodiscard]] model::Bytes free_of(const Room& room, std::size_t gpu) const {
        return gpus_[gpu].total - room.memory - unmanaged_[gpu];
    }

    /// Now, and the moments at which something ends or begins, in order.
    [[nodiscard]] std::size_t moments() const { return moments_.size(); }
    [[nodiscard]] Nanos at(std::size_t moment) const { return moments_[moment]; }
    /// The last of them that isn't after `at`.
    [[nodiscard]] std::size_t moment_of(Nanos at) const;
    /// Those between the two, which are not included, at which something begins.
    [[nodiscard]] std::vector<std::size_t> begins_between(Nanos from, Nanos until) const;

    [[nodiscard]] const Room& room_at(std::size_t moment, std::size_t gpu) const {
        return rooms_[moment * gpus_.size() + gpu];
    }
    /// Whether something is on that GPU whose end isn't known.
    [[nodiscard]] bool has_unknown(std::size_t gpu) const {
        return room_at(moments() - 1, gpu).instances > 0 || unmanaged_[gpu] > model::Bytes{};
    }
    /// Whether enough GPUs could take one that needs this, at that moment.
    [[nodiscard]] bool has_room(const Needs& needs, std::size_t moment) const;
    /// The GPUs that could take it from the moment on until then. Others can't for certain.
    [[nodiscard]] GpuSet room_for(const Needs& needs, std::size_t moment, Nanos until) const;
    /// No request with these needs can start before, whenever that ends whose end isn't known: what has a
    /// time limit is in its way. It may be the first moment.
    [[nodiscard]] Nanos not_before(const Needs& needs) const;

    /// The node at that moment. GPUs that aren't among these are drained. The others must have room for one
    /// more: all that is on one of them is one instance, because admission looks at the sums.
    [[nodiscard]] model::Node node_at(std::size_t moment, const GpuSet& gpus) const;

  private:
    /// A part of what is there now and has a time limit.
    struct Limited {
        Nanos until;
        std::size_t gpu;
        Room room;
    };

    [[nodiscard]] bool could_take(const Room& room, std::size_t gpu, const Needs& needs,
                                  model::Bytes free) const;
    [[nodiscard]] bool could_take(std::size_t moment, std::size_t gpu, const Needs& needs) const {
        const Room& room = room_at(moment, gpu);
        return could_take(room, gpu, needs, free_of(room, gpu));
    }
    std::size_t make_moment(Nanos at);

    std::vector<model::Gpu> gpus_;
    std::vector<model::Bytes> unmanaged_;  ///< of each GPU
    std::vector<Nanos> moments_;
    std::vector<Room> rooms_;       ///< of each moment those of all GPUs
    std::vector<Nanos> begins_;     ///< of what begins later than now, in order
    std::vector<Limited> limited_;  ///< by its end
};

}  // namespace cgpu::queue
