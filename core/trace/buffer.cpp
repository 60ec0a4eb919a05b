#include "core/trace/buffer.hpp"

#include <algorithm>
#include <utility>

namespace cgpu::trace {

Buffer::Buffer(std::size_t most) : most_(std::max<std::size_t>(most, 2)) { held_.reserve(most_ + 2); }

void Buffer::tell_of_dropped(Nanos now) {
    if (told_ == dropped_) return;
    const auto lost = static_cast<std::int64_t>(dropped_ - std::exchange(told_, dropped_));
    held_.push_back({Kind::dropped, 0, lost_at_, std::max(now, lost_at_), {lost}, {}});
    ++records_;
}

void Buffer::put(Record record) {
    // There must be room for the record about dropped ones, too.
    if (held_.size() + 1 >= most_) {
        if (told_ == dropped_) lost_at_ = record.begin;
        ++dropped_;
        return;
    }
    tell_of_dropped(record.begin);
    held_.push_back(std::move(record));
    ++records_;
}

void Buffer::put_last(Record record) {
    tell_of_dropped(record.end);
    held_.push_back(std::move(record));
    ++records_;
}

void Buffer::take(std::vector<Record>& empty) {
    empty.clear();
    empty.reserve(most_ + 2);
    std::swap(held_, empty);
}

}  // namespace cgpu::trace
