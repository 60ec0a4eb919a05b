#include "core/wire/message.hpp"

#include <algorithm>
#include <cstring>

namespace cgpu::wire {
namespace {

std::size_t size_of(Kind kind) {
    switch (kind) {
        case Kind::hello:
            return sizeof(Hello);
        case Kind::welcome:
            return sizeof(Welcome);
        case Kind::refused:
            return sizeof(Refused);
        case Kind::ask:
            return sizeof(Ask);
        case Kind::answer:
            return sizeof(Answer);
        case Kind::give:
            return sizeof(Give);
        case Kind::recall:
            return sizeof(Recall);
        case Kind::notice:
            return sizeof(Notice);
        case Kind::ask_processes:
            return sizeof(AskProcesses);
        case Kind::processes:
            return sizeof(Processes);
        case Kind::switch_engine:
            return sizeof(Switch);
        case Kind::switched:
            return sizeof(Switched);
        case Kind::hand_over:
            return sizeof(HandOver);
        case Kind::driver_files:
            return sizeof(DriverFiles);
    }
    return 0;
}

void bound(Welcome& m) { m.instance[sizeof m.instance - 1] = m.engine[sizeof m.engine - 1] = '\0'; }
void bound(Refused& m) { m.text[sizeof m.text - 1] = '\0'; }
void bound(Notice& m) { m.detail[sizeof m.detail - 1] = '\0'; }
void bound(Processes& m) { m.count = std::min(m.count, Processes::kMost); }
void bound(Switch& m) { m.engine[sizeof m.engine - 1] = '\0'; }
void bound(Switched& m) { m.detail[sizeof m.detail - 1] = '\0'; }
void bound(HandOver& m) {
    for (auto& path : m.paths) path[sizeof path - 1] = '\0';
}
template <class M>
void bound(M&) {}

}  // namespace

std::optional<Kind> kind_of(std::span<const std::byte> packet) {
    if (packet.size() < sizeof(Header)) return std::nullopt;
    Header header;
    std::memcpy(&header, packet.data(), sizeof header);
    const auto size = size_of(header.kind);
    if (size == 0 || header.bytes != size || packet.size() != size) return std::nullopt;
    return header.kind;
}

template <class M>
std::optional<M> read_message(std::span<const std::byte> packet) {
    if (kind_of(packet) != M::kKind) return std::nullopt;
    M message;
    std::memcpy(&message, packet.data(), sizeof message);
    bound(message);
    return message;
}

template std::optional<Hello> read_message<Hello>(std::span<const std::byte>);
template std::optional<Welcome> read_message<Welcome>(std::span<const std::byte>);
template std::optional<Refused> read_message<Refused>(std::span<const std::byte>);
template std::optional<Ask> read_message<Ask>(std::span<const std::byte>);
template std::optional<Answer> read_message<Answer>(std::span<const std::byte>);
template std::optional<Give> read_message<Give>(std::span<const std::byte>);
template std::optional<Recall> read_message<Recall>(std::span<const std::byte>);
template std::optional<Notice> read_message<Notice>(std::span<const std::byte>);
template std::optional<AskProcesses> read_message<AskProcesses>(std::span<const std::byte>);
template std::optional<Processes> read_message<Processes>(std::span<const std::byte>);
template std::optional<Switch> read_message<Switch>(std::span<const std::byte>);
template std::optional<Switched> read_message<Switched>(std::span<const std::byte>);
template std::optional<HandOver> read_message<HandOver>(std::span<const std::byte>);
template std::optional<DriverFiles> read_message<DriverFiles>(std::span<const std::byte>);

void put_text(std::span<char> field, std::string_view text) {
    if (field.empty()) return;
    const auto length = std::min(text.size(), field.size() - 1);
    std::copy_n(text.begin(), length, field.begin());
    std::fill(field.begin() + static_cast<std::ptrdiff_t>(length), field.end(), '\0');
}

}  // namespace cgpu::wire
