#include "tests/unit/module/front/support/front_daemon.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "core/wire/message.hpp"

namespace {

using namespace cgpu;

constexpr const char* kSocket = "link/socket";

struct Page {
    int file = -1;
    void* memory = nullptr;
};

Page make_page(const char* name) {
    Page page;
    page.file = memfd_create(name, MFD_CLOEXEC);
    if (ftruncate(page.file, wire::kPageBytes) != 0) _exit(1);
    page.memory = mmap(nullptr, wire::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, page.file, 0);
    return page;
}

struct Peer {
    int socket = -1;
    bool compute = false;
    wire::Orders* orders = nullptr;
    wire::Reports* reports = nullptr;
    wire::Doorbell* doorbell = nullptr;
};

/// The daemon's process.
class Server {
  public:
    Server(DaemonControl& control, const std::array<std::uint8_t, 16>& uuid)
        : control_(control), uuid_(uuid) {}
    [[noreturn]] void serve();

  private:
    void listen_again();
    void close_all();
    void accept_one();
    bool read_one(Peer& peer);
    void welcome(Peer& peer, wire::Role role);
    void send_driver(const Peer& peer);
    void answer(Peer& peer, const wire::Ask& ask);
    void list(const Peer& peer, const wire::AskProcesses& ask) const;
    void note(const wire::Switched& switched) const;
    void order_switch(const Peer& peer) const;
    void update(Peer& peer);

    DaemonControl& control_;
    std::array<std::uint8_t, 16> uuid_;
    int listener_ = -1;
    std::vector<Peer> peers_;
};

void Server::listen_again() {
    unlink(kSocket);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string_view(kSocket).copy(address.sun_path, sizeof address.sun_path - 1);
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 8) != 0) {
        _exit(1);
    }
}

void Server::close_all() {
    close(listener_);
    listener_ = -1;
    for (Peer& peer : peers_) close(peer.socket);
    peers_.clear();
}

void Server::accept_one() {
    Peer peer;
    peer.socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer.socket >= 0) peers_.push_back(peer);
}

void send_with_files(int socket, const void* message, std::size_t size, std::span<const int> files) {
    alignas(cmsghdr) char space[CMSG_SPACE(3 * sizeof(int))] = {};
    iovec data{const_cast<void*>(message), size};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = CMSG_SPACE(files.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(files.size_bytes());
    std::memcpy(CMSG_DATA(part), files.data(), files.size_bytes());
    sendmsg(socket, &header, MSG_NOSIGNAL);
}

void Server::send_driver(const Peer& peer) {
    ++control_.driver_asked;
    const int file = open(CGPU_TEST_DRIVER, O_RDONLY | O_CLOEXEC);
    auto message = wire::make_message<wire::DriverFiles>();
    message.libraries = wire::bit_of(wire::Library::cuda);
    send_with_files(peer.socket, &message, sizeof message, {&file, 1});
    close(file);
}

void Server::welcome(Peer& peer, wire::Role role) {
    Page pages[3] = {make_page("orders"), make_page("reports"), make_page("doorbell")};
    peer.orders = new (pages[0].memory) wire::Orders{};
    peer.reports = new (pages[1].memory) wire::Reports{};
    peer.doorbell = new (pages[2].memory) wire::Doorbell{};
    peer.orders->magic = wire::kOrdersMagic;
    peer.reports->magic = wire::kReportsMagic;
    peer.doorbell->magic = wire::kDoorbellMagic;
    peer.orders->version = peer.reports->version = peer.doorbell->version = control_.page_version;
    peer.orders->gpu_count = 1;
    peer.orders->on_loss = static_cast<std::uint32_t>(wire::OnLoss::open);
    peer.orders->hold_ns = 100'000'000;
    std::memcpy(peer.orders->gpus[0].uuid, uuid_.data(), uuid_.size());
    peer.orders->gpus[0].total_bytes = std::uint64_t{16} << 30;
    peer.orders->gates[0].window_us = 2000;
    peer.orders->gates[0].limit_ns = INT64_MAX;
    peer.compute = role == wire::Role::compute;
    update(peer);

    auto message = wire::make_message<wire::Welcome>();
    message.version = wire::kVersion;
    message.gpu_count = 1;
    message.context_estimate_bytes = kContextEstimate;
    wire::put_text(message.instance, "0123456789ab");
    wire::put_text(message.engine, CGPU_TEST_ENGINE);
    const int files[] = {pages[0].file, pages[1].file, pages[2].file};
    send_with_files(peer.socket, &message, sizeof message, std::span(files, peer.compute ? 3 : 1));
    for (const Page& page : pages) close(page.file);
    ++control_.greeted;
}

void Server::answer(Peer& peer, const wire::Ask& ask) {
    ++control_.asks;
    auto message = wire::make_message<wire::Answer>(ask.header.request);
    message.gpu = ask.gpu;
    message.limit_bytes = control_.limit_bytes;
    const auto left =
        control_.limit_bytes - control_.leased_bytes - control_.context_bytes - control_.kept_bytes;
    const bool wants_bytes = ask.topic == wire::Topic::lease || ask.topic == wire::Topic::context ||
                             ask.topic == wire::Topic::load;
    if (wants_bytes && ask.bytes > left) {
        message.why = wire::Why::over_limit;
        if (++control_.refusals == control_.mute_after_refusals) control_.mute = 1;
    } else if (wants_bytes) {
        message.granted_bytes = ask.bytes;
        (ask.topic == wire::Topic::lease ? control_.leased_bytes : control_.context_bytes) += ask.bytes;
    } else if (ask.topic == wire::Topic::lease_held) {
        control_.leased_bytes = ask.bytes;
    } else if (ask.topic == wire::Topic::shared) {
        control_.shared_told = ask.bytes;
    } else if (ask.topic == wire::Topic::exported) {
        control_.exported_told = ask.bytes;
    } else if (ask.topic == wire::Topic::refused) {
        ++control_.refused_told;
        control_.refused_told_bytes = ask.bytes;
        return;
    } else if (ask.topic == wire::Topic::made) {
        ++control_.contexts_done;
    } else if (ask.topic == wire::Topic::not_made) {
        control_.context_bytes -= ask.bytes;
    } else if (ask.topic == wire::Topic::moved) {
        ++control_.moved_told;
        control_.moved_bytes += ask.bytes;
    } else if (ask.topic == wire::Topic::context_gone) {
        if (control_.context_bytes.exchange(0) != 0) ++control_.contexts_gone;
    }
    message.used_bytes = control_.context_bytes;
    for (const Peer& each : peers_) {
        if (each.compute) message.used_bytes += each.reports->gpus[0].charged_bytes;
    }
    send(peer.socket, &message, sizeof message, MSG_NOSIGNAL);
}

void Server::list(const Peer& peer, const wire::AskProcesses& ask) const {
    auto message = wire::make_message<wire::Processes>(ask.header.request);
    message.gpu = ask.gpu;
    for (std::uint32_t i = 0; i < control_.processes; ++i) {
        if (listed_process(i).pid <= ask.after_pid) continue;
        if (message.count == wire::Processes::kMost)
            message.more = 1;
        else
            message.uses[message.count++] = listed_process(i);
    }
    send(peer.socket, &message, sizeof message, MSG_NOSIGNAL);
}

void Server::note(const wire::Switched& switched) const {
    control_.running_version = switched.version;
    if (switched.result == wire::SwitchResult::running) {
        ++control_.told_running;
        return;
    }
    control_.switched_result = static_cast<std::uint32_t>(switched.result);
    control_.switched_held_ns = switched.held_ns;
    std::memcpy(control_.switched_detail, switched.detail, sizeof switched.detail);
    control_.switched_request = switched.header.request;
}

bool Server::read_one(Peer& peer) {
    std::byte bytes[wire::kLargestMessage];
    const auto got = recv(peer.socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) return false;
    const std::span<const std::byte> packet(bytes, static_cast<std::size_t>(got));
    if (const auto hello = wire::read_message<wire::Hello>(packet)) {
        if (hello->role == wire::Role::driver)
            send_driver(peer);
        else
            welcome(peer, hello->role);
    }
    if (const auto ask = wire::read_message<wire::Ask>(packet)) answer(peer, *ask);
    if (const auto ask = wire::read_message<wire::AskProcesses>(packet)) list(peer, *ask);
    if (const auto give = wire::read_message<wire::Give>(packet)) {
        // A program that starts returns "everything": here none has had anything before.
        if (give->bytes != UINT64_MAX) {
            control_.leased_bytes -= give->bytes;
            if (give->exported == 1) control_.kept_bytes += give->bytes;
            ++control_.gives;
        }
    }
    if (const auto switched = wire::read_message<wire::Switched>(packet)) note(*switched);
    if (const auto notice = wire::read_message<wire::Notice>(packet)) {
        control_.last_notice = static_cast<std::uint32_t>(notice->event);
        ++control_.notices;
    }
    return true;
}

/// Writes the test's settings into the pages, and reads the reports.
void Server::update(Peer& peer) {
    if (peer.orders == nullptr) return;
    peer.orders->gpus[0].limit_bytes = control_.limit_bytes.load();
    peer.orders->gpus[0].isolate_memory = control_.isolate_memory.load();
    peer.orders->gpus[0].achieved_share = control_.achieved_share.load();
    wire::Gate& gate = peer.orders->gates[0];
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    gate.holds_until_ns = now.tv_sec * 1'000'000'000ll + now.tv_nsec + control_.hold_ns;
    if (gate.state != control_.gate) {
        gate.state = control_.gate.load();
        ++gate.seq;
        syscall(SYS_futex, &gate.seq, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    if (!peer.compute) return;
    control_.used_ns = peer.reports->gpus[0].used_ns.load();
    control_.in_flight_ns = peer.reports->gpus[0].in_flight_ns.load();
    control_.wants = peer.reports->gpus[0].wants.load();
    control_.small_transfers = peer.reports->small_transfers.load();
    control_.rings = peer.doorbell->rings.load();
    if (&peer == &peers_.front()) ++control_.reads;
    // The program itself, not its children, which came later.
    if (&peer == &peers_.front()) order_switch(peer);
    if (const auto bytes = control_.recall_bytes.exchange(0); bytes != 0) {
        auto message = wire::make_message<wire::Recall>();
        message.bytes = bytes;
        send(peer.socket, &message, sizeof message, MSG_NOSIGNAL);
    }
}

void Server::order_switch(const Peer& peer) const {
    const auto request = control_.switch_request.exchange(0);
    if (request == 0) return;
    auto message = wire::make_message<wire::Switch>(request);
    message.version = control_.switch_version;
    message.deadline_ms = control_.switch_deadline_ms;
    std::memcpy(message.engine, control_.switch_engine, sizeof message.engine);
    send(peer.socket, &message, sizeof message, MSG_NOSIGNAL);
}

void Server::serve() {
    while (true) {
        if (control_.down != 0 && listener_ >= 0) close_all();
        if (control_.down == 0 && listener_ < 0) listen_again();
        std::vector<pollfd> entries{{listener_, POLLIN, 0}};
        for (const Peer& peer : peers_) entries.push_back({peer.socket, POLLIN, 0});
        control_.is_down = listener_ < 0;
        const bool mute = control_.mute != 0;
        control_.is_mute = mute;
        poll(entries.data(), mute ? 0 : entries.size(), 2);
        for (const Peer& peer : peers_)
            if (peer.compute) control_.charged_bytes = peer.reports->gpus[0].charged_bytes.load();
        if (mute) continue;
        for (std::size_t i = entries.size(); i-- > 1;) {
            Peer& peer = peers_[i - 1];
            if (entries[i].revents != 0 && !read_one(peer)) {
                close(peer.socket);
                peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(i) - 1);
            }
        }
        if ((entries[0].revents & POLLIN) != 0) accept_one();
        for (Peer& peer : peers_) update(peer);
    }
}

}  // namespace

FakeDaemon::FakeDaemon(const std::array<std::uint8_t, 16>& uuid) {
    void* shared =
        mmap(nullptr, sizeof(DaemonControl), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    control_ = new (shared) DaemonControl;
    mkdir("link", 0755);
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Server(*control_, uuid).serve();
}

FakeDaemon::~FakeDaemon() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
}
