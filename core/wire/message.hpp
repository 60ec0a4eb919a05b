#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/wire/limits.hpp"

/// The messages of the link: one packet each on a SOCK_SEQPACKET socket, plain structs of fixed width in the
/// machine's byte order (both ends are always on one machine). The listening socket is in a folder of the
/// instance, so the socket identifies the instance; SO_PEERCRED identifies the process.
///
/// The life of a connection:
///
// clang-format off
///     module → Hello           which versions of the link I speak
///     daemon → Welcome + fds   orders, reports, doorbell (pages.hpp); or Refused with a sentence, then it closes
///     module → Ask             lease me bytes             daemon → Answer (granted may be 0, with the reason)
///     module → Ask (usage)     what the instance uses     daemon → Answer
///     module → AskProcesses    which processes it has     daemon → Processes, one page of them
///     module → Give            returns bytes of the lease that are not needed any more   (no answer)
///     module → Notice          a line that an operator should read in the log            (no answer)
///     daemon → Recall          return unused lease        module → Give (0 bytes if nothing is unused)
///     module → Switched        which engine runs here: after each Welcome, and after each Switch
///     daemon → Switch          change to another engine   module → Switched
// clang-format on
///
/// Before the instance's program starts, the client that makes its mounts hands over the driver's libraries.
/// Afterwards each front asks for its own. Both use a connection of their own, which ends with the answer:
///
// clang-format off
///     client → Hello (hand_over), HandOver + fds   daemon → DriverFiles, or Refused
///     module → Hello (driver)                      daemon → DriverFiles + fds, or Refused
// clang-format on
///
/// A process may hold several connections (one from libcuda's front, one from libnvidia-ml's). Leases belong
/// to the process, not to the connection: children inherit descriptors, so a closed socket does not show that
/// the process has ended.
namespace cgpu::wire {

enum class Kind : std::uint32_t {
    hello = 1,
    welcome = 2,
    refused = 3,
    ask = 4,
    answer = 5,
    give = 6,
    recall = 7,
    notice = 8,
    ask_processes = 9,
    processes = 10,
    switch_engine = 11,
    switched = 12,
    hand_over = 13,
    driver_files = 14,
};

/// The start of every message. `bytes` is the length of the whole packet; a packet of another length is
/// refused.
struct Header {
    Kind kind;
    std::uint32_t bytes;
    std::uint64_t request;  ///< an Answer carries the number of its Ask; 0 elsewhere
};
static_assert(sizeof(Header) == 16);

enum class Role : std::uint32_t {
    compute = 1,    ///< libcuda's front: charges memory, passes gates; gets the three pages
    observe = 2,    ///< libnvidia-ml's front: asks for usage only; gets the orders page
    driver = 3,     ///< a front that needs the driver's library: gets DriverFiles
    hand_over = 4,  ///< the process that makes the instance's mounts: sends a HandOver
};

/// The driver's libraries that have a front. Also the bit of a library in a set of them.
enum class Library : std::uint32_t { cuda = 0, nvml = 1 };
constexpr std::size_t kLibraries = 2;
constexpr std::uint32_t bit_of(Library library) { return 1u << static_cast<std::uint32_t>(library); }

struct Hello {
    static constexpr Kind kKind = Kind::hello;
    Header header;
    std::uint32_t oldest_version;
    std::uint32_t newest_version;
    Role role;
    std::uint32_t front_version;  ///< of the front's own file: major << 16 | minor << 8 | patch
};
static_assert(sizeof(Hello) == 32);

struct Welcome {
    static constexpr Kind kKind = Kind::welcome;
    Header header;
    std::uint32_t version;  ///< used from here on
    std::uint32_t gpu_count;
    std::uint64_t context_estimate_bytes;  ///< reserved for a new context until the driver's figure is known
    char instance[128];                    ///< id, NUL-terminated
    char engine[128];  ///< the engine's path below kModuleFolder, e.g. "1.0.0/libcgpu-engine.so.1.0.0"
};
static_assert(sizeof(Welcome) == 288);

enum class Why : std::uint32_t {
    none = 0,
    over_limit = 1,  ///< the instance's limit, by Answer::limit_bytes and used_bytes
    unknown_gpu = 2,
    bad_request = 3,
    unsupported_version = 4,
    not_managed = 5,  ///< the instance has ended
    too_many_processes = 6,
    no_driver = 7,  ///< cgpud doesn't have the driver's libraries of this instance (any more)
};

struct Refused {
    static constexpr Kind kKind = Kind::refused;
    Header header;
    Why why;
    char text[236];  ///< one sentence, NUL-terminated
};
static_assert(sizeof(Refused) == 256);

enum class Topic : std::uint32_t {
    lease = 1,  ///< more bytes for this process
    usage = 2,  ///< no bytes: asks what the whole instance has charged
    // Things without a size before the driver has made them. Bytes are set aside beside the lease, and
    // corrected by the driver's figure for the process when the daemon is told that the thing exists.
    context = 3,   ///< bytes for a context that is about to be made on this GPU
    load = 4,      ///< bytes for code (a module, a library) or for what a context's limits ask for
    made = 5,      ///< no bytes: the thing of one `context` or `load` exists now; query the driver's figure
    not_made = 6,  ///< the bytes granted for a `context` or `load` that failed
    moved = 7,     ///< a call may have moved the process's memory without one of the above (a kernel's first
                   ///< launch, an unload): look at the driver's figure. Bytes: what it should be rid of
    context_gone = 8,  ///< no bytes: the process's last context on this GPU is gone
    lease_held = 9,    ///< no more bytes: this process has `bytes` of lease. Said first on a connection that
                       ///< takes a lost one's place: what the daemon counts beyond it was on its way then
    refused = 10,  ///< no bytes: an allocation of `bytes` that the program asked for was refused to it, after
                   ///< however many Asks. It has no Answer
    shared = 11,  ///< no bytes: the process has opened memory that others made (IPC, imports), `bytes` in all
                  ///< so far. The driver may show it for this process
    exported = 12,  ///< no bytes: the process has exported `bytes` of its memory in all so far, the export
                    ///< that follows included. It may live on without the process
};

struct Ask {
    static constexpr Kind kKind = Kind::ask;
    Header header;
    Topic topic;
    std::uint32_t gpu;  ///< index into Orders::gpus
    /// At least this many (a multiple of kGranule); the daemon may grant more. With Topic::load, 0 announces
    /// a function of code that is set aside already.
    std::uint64_t bytes;
};
static_assert(sizeof(Ask) == 32);

struct Answer {
    static constexpr Kind kKind = Kind::answer;
    Header header;
    std::uint32_t gpu;
    Why why;                      ///< none where the bytes were granted
    std::uint64_t granted_bytes;  ///< added to this process's lease (context, load: set aside beside it)
    std::uint64_t limit_bytes;
    std::uint64_t used_bytes;  ///< charged by the whole instance on this GPU, contexts included
};
static_assert(sizeof(Answer) == 48);

struct Give {
    static constexpr Kind kKind = Kind::give;
    Header header;
    std::uint32_t gpu;
    /// 1: what was freed had been exported, and may live on.
    std::uint32_t exported;
    std::uint64_t bytes;  ///< taken off this process's lease
};
static_assert(sizeof(Give) == 32);

struct Recall {
    static constexpr Kind kKind = Kind::recall;
    Header header;
    std::uint32_t gpu;
    std::uint32_t reserved;
    std::uint64_t bytes;  ///< how much the other process lacks; return this, or what is unused
};
static_assert(sizeof(Recall) == 32);

enum class Event : std::uint32_t {
    managed_memory_refused = 1,  ///< or a checkpoint: see the detail
    foreign_device_refused = 2,  ///< a GPU that isn't one of the instance's
    engine_failed = 3,
    gate_ran_out = 4,        ///< the daemon was silent; launches continued without it
    driver_unreachable = 5,  ///< the program gets no driver, or one without a GPU; the detail says why. Comes
                             ///< on a connection that is made for it alone
};

/// The details of Event::driver_unreachable. Any other text is what the loader said of the driver's library.
constexpr std::string_view kNoProc = "no /proc";          ///< the library is loaded by a path in it
constexpr std::string_view kCantHide = "stays dumpable";  ///< and so would give its descriptors to others
constexpr std::string_view kNoDevice = "no device";       ///< the driver itself says so

struct Notice {
    static constexpr Kind kKind = Kind::notice;
    Header header;
    Event event;
    std::uint32_t gpu;
    char detail[64];  ///< e.g. the function's name; NUL-terminated; printed with control characters escaped
};
static_assert(sizeof(Notice) == 88);

/// Which of the instance's processes hold memory of a GPU.
struct AskProcesses {
    static constexpr Kind kKind = Kind::ask_processes;
    Header header;
    std::uint32_t gpu;        ///< index into Orders::gpus
    std::uint32_t after_pid;  ///< the last pid of the previous page; 0 for the first page
};
static_assert(sizeof(AskProcesses) == 24);

struct ProcessUse {
    std::uint32_t pid;  ///< as the asking process sees it; one that it can't see is left out
    std::uint32_t reserved;
    std::uint64_t used_bytes;  ///< charged by it, contexts included
};
static_assert(sizeof(ProcessUse) == 16);

/// One page of them, in ascending order of pid, so that a process that starts or ends between two pages moves
/// no other one.
struct Processes {
    static constexpr Kind kKind = Kind::processes;
    static constexpr std::uint32_t kMost = 30;
    Header header;
    std::uint32_t gpu;
    Why why;              ///< none: this is a valid answer
    std::uint32_t count;  ///< in use, at most kMost
    std::uint32_t more;   ///< 1: others come after the last of these
    ProcessUse uses[kMost];
};
static_assert(sizeof(Processes) == 512);

/// Change to another engine with the complete state of the present one, without stopping any thread. To the
/// compute role only. Switches are carried out and answered in order; one that is replaced by another before
/// it is begun is not answered.
struct Switch {
    static constexpr Kind kKind = Kind::switch_engine;
    Header header;              ///< the Switched has the same `request`
    std::uint32_t version;      ///< the engine's: major << 16 | minor << 8 | patch
    std::uint32_t deadline_ms;  ///< if a thread was always inside for this long, answer `busy`
    char engine[128];           ///< its path below kModuleFolder
};
static_assert(sizeof(Switch) == 152);

enum class SwitchResult : std::uint32_t {
    running = 1,        ///< without a Switch: this engine runs here
    done = 2,           ///< done, or it ran already
    not_loadable = 3,   ///< no such file, or no engine, or one of another machine
    other_abi = 4,      ///< an engine that this front can't call
    other_version = 5,  ///< the file declares another version than the requested one
    self_check = 6,     ///< it did not take over the present engine's state
    busy = 7,           ///< a thread was inside the present engine all the time
};

/// The engine that runs in this process now. After any failure it is a complete engine with all its accounts.
struct Switched {
    static constexpr Kind kKind = Kind::switched;
    Header header;  ///< `request` of the Switch; 0 with `running`
    SwitchResult result;
    std::uint32_t version;  ///< of the engine that runs here now
    std::uint64_t held_ns;  ///< how long calls were kept out of both engines
    char detail[88];        ///< the fault, in words; NUL-terminated
};
static_assert(sizeof(Switched) == 120);

/// The driver's libraries of this instance, as descriptors opened for reading, one for each bit of
/// `libraries`, in the order of Library. Accepted once in an instance's life, and only from the process that
/// the instance is attached to or one of its descendants: before the program starts, that is the process that
/// makes the mounts. In an instance of a user other than root, a process that isn't root's sends a file of
/// the host that cgpud can open by the path in the message, or memory (memfd_create(2)) that is sealed
/// against every change.
struct HandOver {
    static constexpr Kind kKind = Kind::hand_over;
    Header header;
    std::uint32_t libraries;  ///< bit_of() each that is there
    std::uint32_t reserved;
    char paths[kLibraries][240];  ///< where each lies, NUL-terminated: a daemon that is started anew looks
                                  ///< for the same file there. "": not known
};
static_assert(sizeof(HandOver) == 504);

/// As an answer to a HandOver: they are accepted, and none is returned. As an answer to a Hello of role
/// `driver`: the libraries.
struct DriverFiles {
    static constexpr Kind kKind = Kind::driver_files;
    Header header;
    std::uint32_t libraries;  ///< bit_of() each; the descriptors come in the order of Library
    std::uint32_t reserved;
};
static_assert(sizeof(DriverFiles) == 24);

constexpr std::size_t kLargestMessage = 512;

/// Fills in the header of a message of type M.
template <class M>
M make_message(std::uint64_t request = 0) {
    M message{};
    message.header = {M::kKind, sizeof(M), request};
    return message;
}

/// The kind of a received packet; empty if its length or kind is not one of ours.
std::optional<Kind> kind_of(std::span<const std::byte> packet);

/// The packet as an M; empty if it is not one. Afterwards strings in it are NUL-terminated and counts are
/// within their arrays.
template <class M>
std::optional<M> read_message(std::span<const std::byte> packet);

extern template std::optional<Hello> read_message<Hello>(std::span<const std::byte>);
extern template std::optional<Welcome> read_message<Welcome>(std::span<const std::byte>);
extern template std::optional<Refused> read_message<Refused>(std::span<const std::byte>);
extern template std::optional<Ask> read_message<Ask>(std::span<const std::byte>);
extern template std::optional<Answer> read_message<Answer>(std::span<const std::byte>);
extern template std::optional<Give> read_message<Give>(std::span<const std::byte>);
extern template std::optional<Recall> read_message<Recall>(std::span<const std::byte>);
extern template std::optional<Notice> read_message<Notice>(std::span<const std::byte>);
extern template std::optional<AskProcesses> read_message<AskProcesses>(std::span<const std::byte>);
extern template std::optional<Processes> read_message<Processes>(std::span<const std::byte>);
extern template std::optional<Switch> read_message<Switch>(std::span<const std::byte>);
extern template std::optional<Switched> read_message<Switched>(std::span<const std::byte>);
extern template std::optional<HandOver> read_message<HandOver>(std::span<const std::byte>);
extern template std::optional<DriverFiles> read_message<DriverFiles>(std::span<const std::byte>);

/// Copies text into a fixed field: truncated to fit, always NUL-terminated.
void put_text(std::span<char> field, std::string_view text);

}  // namespace cgpu::wire
