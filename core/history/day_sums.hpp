#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/history/record.hpp"

namespace cgpu::history {

/// When the day of a moment begins, both in microseconds since 1970, in the time zone of the node.
using DayBegin = std::function<std::uint64_t(std::uint64_t)>;

/// The day of a record is that of its middle: it may reach over midnight.
[[nodiscard]] constexpr std::uint64_t middle_of(const Record& record) {
    return record.begin_us + record.duration_us / 2;
}

/// The sums of one day: a record for each owner, name and GPU, and one for each owner and name whose requests
/// were refused. They are written again whenever they grow, so that they outlive the records that they are
/// of: on a busy node these last for days only.
///
/// A day has at most kMostRows sums, whatever users call their jobs. An owner who has kMostOfAnOwner gets one
/// more for each GPU, named kOtherNames. So do all when there are kMostNamed of them. Whoever comes when
/// kMostOfGpus are taken gets one for all GPUs, and the last one, kOthers, is of all who come later.
class DaySums {
  public:
    static constexpr std::size_t kMostOfAnOwner = 64;
    static constexpr std::size_t kMostNamed = 224;
    static constexpr std::size_t kMostOfGpus = 288;
    static constexpr std::size_t kMostRows = 320;
    static constexpr const char* kOtherNames = "(other names)";
    static constexpr const char* kOthers = "(others)";
    /// For so many days there is room, however many sums each has.
    static constexpr std::size_t kDays = 400;

    explicit DaySums(DayBegin begin) : begin_(std::move(begin)) {}

    /// Goes on with the sums of the last day among these. `records`: single ones, of which those of that day
    /// say which instances are counted in them. Without any sums, these are made of the records.
    void take_up(std::span<const Record> sums, std::span<const Record> records);
    void add(std::span<const Record> records);
    /// The sums that have grown since the last call of this. Those that were never written have no number.
    [[nodiscard]] std::vector<Record> take_changed();
    /// They were written under their numbers.
    void written(std::span<const Record> sums);

  private:
    using Key = std::tuple<model::Owner, std::string, model::Uuid>;
    struct Row {
        Record sum;
        std::set<std::string> living;  ///< instances that are counted, and haven't ended
        bool changed = false;
    };

    void add(const Record& record);
    [[nodiscard]] Key key_for(const Record& record) const;
    Row& make_row(const Key& key);

    DayBegin begin_;
    std::uint64_t day_ = 0;  ///< its beginning
    std::map<Key, Row> rows_;
    std::map<model::Owner, std::size_t> rows_of_;
    std::vector<Record> former_;  ///< changed ones of a day before
};

/// All that is known: of each day its records, or its sums where some of these records aren't kept any more,
/// or never were (the disk was full, say). `records`: in the order of their numbers.
[[nodiscard]] std::vector<Record> joined(std::vector<Record> records, std::vector<Record> sums);

}  // namespace cgpu::history
