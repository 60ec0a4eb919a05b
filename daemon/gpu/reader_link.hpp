#pragma once

#include <optional>
#include <string>

namespace cgpu::gpu {

/// A connection to the reader: a line goes there, a line comes back. It never blocks.
class ReaderLink {
  public:
    /// Takes the socket, which is non-blocking.
    explicit ReaderLink(int fd) : fd_(fd) {}
    ~ReaderLink();
    ReaderLink(const ReaderLink&) = delete;
    ReaderLink& operator=(const ReaderLink&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    /// Adds the end of the line. False: the reader has ended, or doesn't take it.
    [[nodiscard]] bool send(const std::string& line) const;

    struct Received {
        std::optional<std::string> line;  ///< without its end
        bool ended = false;               ///< nothing can come any more, or what came is no line of an answer
    };
    /// What has come by now.
    [[nodiscard]] Received receive();

  private:
    int fd_;
    std::string buffer_;  ///< the beginning of a line
};

}  // namespace cgpu::gpu
