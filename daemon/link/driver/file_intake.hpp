#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/wire/message.hpp"
#include "daemon/app/ports/loop.hpp"
#include "files/descriptor.hpp"

namespace cgpu::link {

/// Receives the one packet of the link that descriptors come with, HandOver, and judges the files. They can
/// be anything, and a call on them may wait for whoever serves them, close(2) included: so they come into the
/// table of a thread that does nothing else, and from there only if they are what cgpud keeps.
class FileIntake {
  public:
    /// What came.
    struct Came {
        wire::HandOver message{};
        std::vector<Descriptor> files;
        std::string why_not;  ///< a clause; empty: the files are libraries, one for each bit of the message
    };

    /// Whose files they are.
    enum class Of { root, user };

    /// `connection`: its descriptor, which nobody else reads from. Calls `done` on the loop, once, unless
    /// this object ends before. Null: there are as many threads as there may be already.
    static std::unique_ptr<FileIntake> start(int connection, Of whose, app::Loop& loop,
                                             std::function<void(Came)> done);
    ~FileIntake() = default;
    FileIntake(const FileIntake&) = delete;
    FileIntake& operator=(const FileIntake&) = delete;

  private:
    FileIntake(Descriptor from, std::function<void(Came)> done)
        : from_(std::move(from)), done_(std::move(done)) {}
    void ready();

    Descriptor from_;  ///< the thread's answer
    std::function<void(Came)> done_;
    app::WatchPtr watch_;
};

}  // namespace cgpu::link
