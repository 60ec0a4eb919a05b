#pragma once

#include <cstdint>
#include <string>

namespace programs::fire {

/// Returns CLOCK_MONOTONIC in nanoseconds. It is the simulator's clock, so what is noted here can be compared
/// with its trace.
std::int64_t now_ns();
void sleep_ns(std::int64_t duration);

/// The file in which all processes of one run note what they did. Each line is appended by one write() and
/// ends with a point, because a process that is killed in the middle leaves only the beginning of a line.
///
///     born PID NS
///     stopped PID DEVICE FROM TO BYTES       what it was asking for then
///     dead PID DEVICE NS BYTES SINCE         what it was asking for then
///     got PID DEVICE FROM TO BYTES           after more than a moment
///     refused PID DEVICE FROM TO BYTES WAY   asked for again and again, and never had
///     failed PID NS CALL RESULT              anything else that went wrong
class Journal {
  public:
    explicit Journal(const std::string& path);

    void note(const std::string& line) const;
    void failed(const std::string& call, int result) const;

  private:
    int file_;
};

}  // namespace programs::fire
