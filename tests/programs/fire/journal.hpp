#pragma once

#include <cstdint>
#include <string>

namespace programs::fire {

/// CLOCK_MONOTONIC, nanoseconds: the simulator's clock, so that what is noted here can be laid beside its
/// trace.
std::int64_t now_ns();
void sleep_ns(std::int64_t duration);

/// The file in which all processes of one run note what they did: a line each, appended by one write(), and
/// ended by a point: a process that is killed in the middle leaves the beginning of one.
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
