// The messages of the link: whatever a packet holds, what is read from it is bounded.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/wire/message.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {
namespace {

using namespace wire;

void must_end(std::span<const char> text) {
    must(std::find(text.begin(), text.end(), '\0') != text.end(), "texts in a message are NUL-terminated");
}

void check(const Welcome& m) { must_end(m.instance), must_end(m.engine); }
void check(const Refused& m) { must_end(m.text); }
void check(const Notice& m) { must_end(m.detail); }
void check(const Processes& m) { must(m.count <= Processes::kMost, "counts are within their arrays"); }
void check(const Switch& m) { must_end(m.engine); }
void check(const Switched& m) { must_end(m.detail); }
void check(const HandOver& m) {
    for (const auto& path : m.paths) must_end(path);
}
template <class M>
void check(const M&) {}

/// Returns how many times the packet could be read as an M.
template <class M>
int read_as(std::span<const std::byte> packet) {
    const auto message = read_message<M>(packet);
    must(message.has_value() == (kind_of(packet) == M::kKind), "a packet is of the kind that it says");
    if (!message) return 0;
    must(packet.size() == sizeof(M) && message->header.bytes == sizeof(M) && sizeof(M) <= kLargestMessage,
         "a packet is as long as its message");
    check(*message);
    const auto bounded = std::as_bytes(std::span(&*message, 1));
    const auto again = read_message<M>(bounded);
    must(again && std::memcmp(&*again, &*message, sizeof(M)) == 0, "what was bounded is read to the same");
    return 1;
}

template <class... M>
struct Kinds {
    static int read(std::span<const std::byte> packet) { return (read_as<M>(packet) + ...); }
    /// Takes the content as each kind of message: random packets rarely have the right length.
    static void fit(std::span<const std::byte> content) { (fit_one<M>(content), ...); }

  private:
    template <class Each>
    static void fit_one(std::span<const std::byte> content) {
        std::vector<std::byte> packet(sizeof(Each));
        const auto length = std::min(content.size(), packet.size());
        if (length > 0) std::memcpy(packet.data(), content.data(), length);
        const Header header{Each::kKind, sizeof(Each), 7};
        std::memcpy(packet.data(), &header, sizeof header);
        must(read(packet) == 1, "a packet with the right header is a message of one kind");
    }
};
using All = Kinds<Hello, Welcome, Refused, Ask, Answer, Give, Recall, Notice, AskProcesses, Processes, Switch,
                  Switched, HandOver, DriverFiles>;

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    const fuzz::Input input(data, size);
    const bool known = wire::kind_of(input.bytes()).has_value();
    fuzz::must(fuzz::All::read(input.bytes()) == (known ? 1 : 0),
               "a packet is a message of one kind or none");
    fuzz::All::fit(input.bytes());
    char field[64];
    wire::put_text(field, input.text());
    fuzz::must_end(field);
    return 0;
}
