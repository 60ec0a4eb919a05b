#include "core/schedule/parts/virtual_time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgpu::schedule {

void VirtualTime::set_weight(std::size_t entry, double weight) {
    Entry& e = entries_[entry];
    const double debt = std::max(0.0, e.v - clock_) * e.weight;
    e.v = clock_ + (weight > 0 ? debt / weight : 0.0);
    e.weight = weight;
}

void VirtualTime::balance(const Division& division, Nanos most) {
    double clock = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Entry& e = entries_[i];
        const double weight = division.weights[i];
        if (e.weight > 0 && weight > 0) {
            e.v = even_ + (e.v - even_) * e.weight / weight;
        } else {
            e.v = std::max(e.v, clock_);
        }
        e.weight = weight;
        if (division.competing[i] && weight > 0) clock = std::min(clock, e.v);
    }
    double ahead = 0, rest = 0;
    whole_ = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Entry& e = entries_[i];
        if (!division.working[i]) continue;
        if (division.late[i] && std::isfinite(clock)) e.v = std::max(e.v, clock);
        ahead += (e.v - even_) * e.weight;
        whole_ += e.weight;
        if (division.rest[i]) rest += e.weight;
    }
    if (whole_ == 0) return;
    const auto bound = static_cast<double>(most);
    const double moved = rest > 0 ? std::clamp(ahead, -bound, bound) / rest : 0;
    if (rest == 0) even_ += ahead / whole_;
    clock = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (division.working[i] && division.rest[i]) entries_[i].v -= moved;
        if (division.competing[i] && entries_[i].weight > 0) clock = std::min(clock, entries_[i].v);
    }
    if (std::isfinite(clock)) clock_ = clock;
}

void VirtualTime::flow(Nanos used) {
    if (whole_ > 0) even_ += static_cast<double>(used) / whole_;
}

void VirtualTime::charge(std::size_t entry, Nanos used, Nanos most_debt) {
    Entry& e = entries_[entry];
    if (e.weight == 0) return;
    e.v += static_cast<double>(used) / e.weight;
    e.v = std::min(e.v, clock_ + static_cast<double>(most_debt) / e.weight);
}

void VirtualTime::catch_up(std::size_t entry) { entries_[entry].v = std::max(entries_[entry].v, clock_); }

void VirtualTime::advance_clock(std::size_t entry) { clock_ = std::max(clock_, entries_[entry].v); }

VirtualTime::Entries VirtualTime::taking_part(const Entries& among) const {
    Entries out;
    for (std::size_t i = 0; i < entries_.size(); ++i) out[i] = among[i] && entries_[i].weight > 0;
    return out;
}

void VirtualTime::pass(Nanos dt, const Entries& idle) {
    const Entries filled = taking_part(idle);
    auto left = static_cast<double>(dt);
    // As water fills a vessel with steps: the lowest entries rise together until they reach the next one.
    while (left > 0 && filled.any()) {
        double lowest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (filled[i]) lowest = std::min(lowest, entries_[i].v);
        }
        double next = std::numeric_limits<double>::infinity();
        double weight = 0;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!filled[i]) continue;
            if (entries_[i].v <= lowest) {
                weight += entries_[i].weight;
            } else {
                next = std::min(next, entries_[i].v);
            }
        }
        const double level = std::min(next, lowest + left / weight);
        left = level < next ? 0 : left - (level - lowest) * weight;
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (filled[i] && entries_[i].v <= lowest) entries_[i].v = level;
        }
    }
    double lowest = std::numeric_limits<double>::infinity();
    for (const Entry& e : entries_) {
        if (e.weight > 0) lowest = std::min(lowest, e.v);
    }
    if (std::isfinite(lowest)) clock_ = std::max(clock_, lowest);
}

Nanos VirtualTime::time_until_next(std::size_t entry, Nanos more, const Entries& idle) const {
    const Entries filled = taking_part(idle);
    const double place = entries_[entry].v + static_cast<double>(more) / divisor(entry);
    double sum = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (filled[i]) sum += std::max(0.0, place - entries_[i].v) * entries_[i].weight;
    }
    return static_cast<Nanos>(std::min(std::ceil(sum), 1e15));
}

}  // namespace cgpu::schedule
