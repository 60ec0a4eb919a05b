// The start of a session: the one file that knows everything that a session needs.
#include "module/front/driver/real_driver.hpp"
#include "module/front/link/connection.hpp"
#include "module/front/process/service_thread.hpp"
#include "module/front/session/session.hpp"

namespace cgpu::front {
namespace {

void tell_engine_failed(const Descriptor& socket, const wire::Welcome& welcome) {
    auto notice = wire::make_message<wire::Notice>();
    notice.event = wire::Event::engine_failed;
    wire::put_text(notice.detail, welcome.engine);
    send_message(socket, notice);
}

bool connect(Session& session) {
    read_clock_offset();
    Descriptor socket;
    wire::Welcome welcome{};
    Packet packet;
    const auto until = now_ns() + Session::kConnectTimeout;
    if (greet(wire::Role::compute, until, socket, welcome, packet) != Greeted::answered) return false;
    const bool entered = session.enter(welcome, packet.files);
    drop_files(packet);
    if (!entered) {
        tell_engine_failed(socket, welcome);
        socket.close();
        return false;
    }
    Link& link = session.link();
    link.attach(socket);
    link.tell_engine(session.engine().running());
    // After an exec the daemon sees the same process: the lease of the former program is returned.
    for (std::uint32_t gpu = 0; gpu < session.gpu_count(); ++gpu) {
        link.give(gpu, UINT64_MAX);
        link.tell(wire::Topic::context_gone, gpu);
    }
    real::look_up_own_calls();
    if (service_thread().start()) return true;
    session.unbind();
    link.detach();
    return false;
}

constinit Session the_session(connect);

}  // namespace

Session& session() { return the_session; }

}  // namespace cgpu::front
