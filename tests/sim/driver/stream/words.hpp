#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace simgpu {

class Process;
class Session;

/// The words of this process's memory that operations in flight wait for or write. The timeline has a copy of
/// each, so that waits end to the nanosecond when an operation writes the word. What the program and other
/// operations write is seen when the process reads the word.
class Words {
  public:
    explicit Words(const Process& process) : process_(process) {}

    /// Counts one more user of the word at `address` of 4 or 8 bytes.
    /// @return the word's place in the timeline; kMaxWords if all are taken.
    std::uint32_t enter(std::uint64_t address, std::uint32_t bytes);
    void leave(std::uint64_t address);

    bool none() const;
    /// Copies the words from memory into the timeline. Call it when all effects of completed operations have
    /// happened. @return whether any word differed.
    bool refresh(Session& session);

  private:
    struct Word {
        std::uint32_t index;
        std::uint32_t bytes;
        std::uint32_t users = 0;
    };

    const Process& process_;
    mutable std::mutex mutex_;  ///< Taken inside a Session, never the other way round.
    std::map<std::uint64_t, Word> words_;
};

}  // namespace simgpu
