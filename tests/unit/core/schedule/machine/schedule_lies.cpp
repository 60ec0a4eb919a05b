#include "tests/unit/core/schedule/machine/schedule_lies.hpp"

#include <memory>
#include <ostream>

namespace cgpu::schedule::sim {

namespace {

Nanos value_of(const Tenant::Report& r, Field field) {
    switch (field) {
        case Field::used:
            return r.used;
        case Field::in_flight:
            return r.in_flight_estimate;
        case Field::remaining:
            return r.remaining;
        case Field::wants:
            return r.wants ? 1 : 0;
        case Field::waited:
            return r.waited;
        case Field::syncing:
            return r.syncing ? 1 : 0;
        case Field::usual_gap:
            return r.usual_gap;
        case Field::unmeasured:
            return r.unmeasured ? 1 : 0;
        case Field::updated:
            return r.updated;
        case Field::launches:
            break;
    }
    return r.launches;
}

void set(Tenant::Report& r, Field field, Nanos value) {
    switch (field) {
        case Field::used:
            r.used = value;
            return;
        case Field::in_flight:
            r.in_flight_estimate = value;
            return;
        case Field::remaining:
            r.remaining = value;
            return;
        case Field::wants:
            r.wants = value != 0;
            return;
        case Field::waited:
            r.waited = value;
            return;
        case Field::syncing:
            r.syncing = value != 0;
            return;
        case Field::usual_gap:
            r.usual_gap = value;
            return;
        case Field::unmeasured:
            r.unmeasured = value != 0;
            return;
        case Field::updated:
            r.updated = value;
            return;
        case Field::launches:
            r.launches = value;
    }
}

Nanos scaled(Nanos value, int percent) {
    return static_cast<Nanos>(static_cast<double>(value) * percent / 100);
}

}  // namespace

void Forgery::apply(Nanos now, bool open, std::uint64_t reads, Tenant::Report& report) const {
    if ((when == 2 && !open) || (when == 3 && open)) return;
    if (changes > 0 && now / changes % 2 == 1) return;
    const Nanos truth = value_of(report, field);
    switch (how) {
        case 0:
            return set(report, field, values[0]);
        case 1:
            return set(report, field, values[reads % 2]);
        case 2:
            return set(report, field, scaled(now, percent));
        case 3:
            return set(report, field, scaled(truth, percent));
        default:
            return set(report, field, truth + values[0]);
    }
}

Tenant Liar::tenant() const {
    Tenant out;
    out.work.kernels = {kernel};
    out.work.ignores_limit = true;
    out.work.ignores_window = ignores_window;
    out.weight = weight;
    out.high_priority = high;
    out.processes = processes;
    out.lie = [forgeries = forgeries, reads = std::uint64_t{0}](Nanos now, bool open, std::size_t process,
                                                                Tenant::Report& report) mutable {
        if (process == 0) ++reads;
        for (const Forgery& each : forgeries) {
            if ((each.processes >> process & 1) != 0) each.apply(now, open, reads, report);
        }
    };
    return out;
}

std::ostream& operator<<(std::ostream& out, const Forgery& f) {
    static constexpr std::array kNames{"used",    "in_flight", "remaining",  "wants",   "waited",
                                       "syncing", "usual_gap", "unmeasured", "updated", "launches"};
    return out << kNames[static_cast<std::size_t>(f.field)] << " how " << f.how << " when " << f.when << " "
               << f.values[0] << " " << f.values[1] << " " << f.percent << " % changes " << f.changes
               << " processes " << f.processes;
}

std::ostream& operator<<(std::ostream& out, const Liar& liar) {
    out << "liar: kernels of " << liar.kernel << " weight " << liar.weight << " processes " << liar.processes
        << (liar.high ? " high" : "") << (liar.ignores_window ? " no window" : "") << " lifetime "
        << liar.lifetime;
    for (const Forgery& each : liar.forgeries) out << "; " << each;
    return out;
}

}  // namespace cgpu::schedule::sim
