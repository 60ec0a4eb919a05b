#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <vector>

#include "tests/unit/core/schedule/machine/schedule_world.hpp"

namespace cgpu::schedule::sim {

/// What a process can write over on its page.
enum class Field {
    used,
    in_flight,
    remaining,
    wants,
    waited,
    syncing,
    usual_gap,
    unmeasured,
    updated,
    launches
};

/// One field's forged course.
struct Forgery {
    Field field = Field::used;
    /// 0: a constant. 1: two values in turn. 2: grows with the clock. 3: the truth times a factor. 4: the
    /// truth and a value more.
    int how = 0;
    int when = 0;  ///< 0, 1: always. 2: while its gate is open. 3: while it is closed
    std::array<Nanos, 2> values{};
    int percent = 100;   ///< the rate, or the factor
    Nanos changes = 0;   ///< so long it lies, and so long it tells the truth; 0: it always lies
    int processes = -1;  ///< a bit for each process that does it

    /// `reads`: how often the page has been read.
    void apply(Nanos now, bool open, std::uint64_t reads, Tenant::Report& report) const;
};

/// An instance whose pages say anything, and whose program launches past the limit of its gate.
struct Liar {
    std::vector<Forgery> forgeries;
    Nanos kernel = kMilli;
    int weight = 1;
    int processes = 1;
    bool high = false;
    bool ignores_window = false;
    Nanos lifetime = 0;  ///< of each of its processes; 0: they stay

    [[nodiscard]] Tenant tenant() const;
};

std::ostream& operator<<(std::ostream& out, const Forgery& forgery);
std::ostream& operator<<(std::ostream& out, const Liar& liar);

}  // namespace cgpu::schedule::sim
