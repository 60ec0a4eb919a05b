#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/wire/message.hpp"
#include "module/front/base/descriptor.hpp"

/// The packets of the link, as both fronts send and receive them. Nothing here blocks except ask_hello and
/// greet.
namespace cgpu::front {

constexpr std::size_t kPages = 3;  // orders, reports, doorbell

enum class Sent { done, full, lost };
enum class Received { packet, nothing, lost };

struct Packet {
    alignas(8) std::array<std::byte, wire::kLargestMessage> bytes;
    std::size_t size = 0;
    std::array<int, kPages> files;  ///< descriptors that came along, or -1; the receiver closes them
    std::span<const std::byte> data() const { return {bytes.data(), size}; }
};

/// Closes the descriptors that came with a packet.
void drop_files(Packet& packet);

enum class Opened {
    done,
    absent,  ///< no link folder: this is no managed process, or the daemon's files are gone
    later,   ///< the daemon isn't listening now
};

/// Connects and sends the Hello.
Opened open_link(wire::Role role, Descriptor& socket);

Sent send_packet(const Descriptor& socket, std::span<const std::byte> packet);
template <class M>
Sent send_message(const Descriptor& socket, const M& message) {
    return send_packet(socket, std::as_bytes(std::span(&message, 1)));
}

/// While no thread is in here (`Receiving`), all descriptors that have come are in packets.
Received receive_packet(const Descriptor& socket, Packet& packet);

/// Keeps threads out of receive_packet, for a fork: the child then knows the descriptors that it has copies
/// of.
class Receiving {
  public:
    static void keep_out();
    static void let_in();
    static void reset_in_child();
};

enum class Greeted { answered, refused, silent };

/// Connects and waits until `until_ns` for the daemon's answer to the Hello, which is returned in `packet`,
/// with its files. A daemon that is not listening yet is tried again until then.
Greeted ask_hello(wire::Role role, std::int64_t until_ns, Descriptor& socket, Packet& packet);
/// The same if the answer must be a Welcome; its pages are in `packet.files`.
Greeted greet(wire::Role role, std::int64_t until_ns, Descriptor& socket, wire::Welcome& welcome,
              Packet& packet);

}  // namespace cgpu::front
