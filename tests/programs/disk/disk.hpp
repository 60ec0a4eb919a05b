#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace programs::disk {

/// What a disk is asked to do, as far as it can fail. `grow`: a write that needs more space than the file
/// has.
enum class Step {
    create,
    open,
    write,
    grow,
    shorten,
    sync,
    sync_folder,
    rename,
    exchange,
    remove,
    attributes
};

/// The step of this name, with hyphens.
std::optional<Step> step_named(std::string_view name);

/// A file, as programs see it and as the disk has it.
struct File {
    /// A write, or a new length, that nobody has waited for.
    struct Change {
        std::size_t place;  ///< of a new length: the length
        std::string bytes;  ///< empty: a new length
    };

    std::string seen;
    std::string kept;
    std::vector<Change> unsynced;
    mode_t mode = 0600;
    uid_t owner = 0;
    gid_t group = 0;
    timespec changed{};
};

/// A folder of files on a disk that keeps what a disk has to keep, and no more: the content of a file once it
/// was synced, and a name once the folder was. Errors are those of errno; 0: done.
class Disk {
  public:
    using Number = std::uint64_t;
    static constexpr Number kNobody = 0;
    static constexpr Number kFolder = 1;

    [[nodiscard]] Number find(const std::string& name) const;
    [[nodiscard]] const std::map<std::string, Number>& names() const { return seen_; }
    /// Not after a cut by which it has lost its last name.
    [[nodiscard]] bool has(Number number) const { return files_.contains(number); }
    [[nodiscard]] File& file(Number number) { return files_.at(number); }
    [[nodiscard]] unsigned links(Number number) const;

    /// Before each of these: whether it fails now.
    int make(const std::string& name, mode_t mode, uid_t owner, gid_t group);
    int remove(const std::string& name);
    /// As renameat2() does without flags, with RENAME_NOREPLACE and with RENAME_EXCHANGE.
    int rename(const std::string& from, const std::string& to, unsigned flags);
    /// How many bytes were written: fewer where the disk is full after them.
    int write(Number number, std::size_t place, std::string_view bytes, std::size_t& written);
    int set_length(Number number, std::size_t length);
    int sync(Number number);
    int sync_folder();
    /// Whether this step fails now, and with what.
    [[nodiscard]] int fault(Step step) const;

    /// From now on this step fails with this error; 0: it doesn't.
    void set_fault(Step step, int error);
    void no_faults() { faults_.clear(); }

    /// The power fails, and comes back: what wasn't synced is there wholly, partly or not at all. Of changes
    /// of names, those until a moment are: disks write their journal in order.
    /// @return what became of it, in a line.
    std::string cut(std::uint64_t seed);

    /// What has been asked of it that changes something, faults included.
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    void count_step() { ++steps_; }

  private:
    /// Names that change together, and the file that each has then.
    using Renamed = std::map<std::string, Number>;

    void change_names(Renamed renamed);
    static void apply(std::map<std::string, Number>& names, const Renamed& renamed);

    std::map<Number, File> files_;
    std::map<std::string, Number> seen_;
    std::map<std::string, Number> kept_;
    std::vector<Renamed> unsynced_;
    std::map<Step, int> faults_;
    Number next_ = kFolder + 1;
    std::uint64_t steps_ = 0;
    std::mt19937_64 random_;
};

}  // namespace programs::disk
