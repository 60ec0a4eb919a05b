// What processes may say on the link, against a model of their leases. The first byte chooses the settings;
// then each message takes four bytes: which one, from whom, and a number.
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/lease_world.hpp"

namespace cgpu::fuzz {
namespace {

using What = app::LeaseAsk::What;
/// Longer sequences find nothing that shorter ones cannot find.
constexpr int kMostWords = 200;

app::LeaseSettings some_settings(unsigned bits) {
    app::LeaseSettings settings;
    if ((bits & 1U) != 0) settings.on_escape = app::OnEscape::refuse;
    if ((bits & 2U) != 0) settings.first_context_estimate = 2048 * kMib;
    if ((bits & 4U) != 0) settings.unexplained.gap = 2 * kMib;
    return settings;
}

/// Mostly sizes as programs have them; now and then a number that is no size.
std::uint64_t bytes_of(std::uint16_t number) {
    if (number == 0xffff) return UINT64_MAX;
    if (number == 0xfffe) return std::uint64_t{1} << 50;
    return (number & 1U) != 0 ? (number >> 1U) * kMib / 8 + 1 : (number >> 1U) * kMib / 4;
}

void speak(LeaseWorld& world, Input& input) {
    const unsigned word = input.byte();
    const unsigned who = input.byte();
    const auto number = input.number();
    const auto bytes = bytes_of(number);
    const auto pid = static_cast<std::int32_t>(1 + who % (LeaseWorld::kInstances * LeaseWorld::kEach));
    const bool flag = who >= 128;
    switch (word % 16) {
        case 0:
            return world.enter(pid);
        case 1:
            return world.ask(pid, What::lease, bytes, !flag);
        case 2:
            return world.ask(pid, What::context, bytes, !flag);
        case 3:
            return world.ask(pid, What::load, bytes, !flag);
        case 4:
            return world.give(pid, bytes);
        case 5:
            return world.held(pid, bytes);
        case 6:
        case 7:
            return world.say(pid, word / 16, bytes);
        case 8:
            return world.report(pid, bytes, flag ? bytes / 2 : 0, false);
        case 9:
            return world.report(pid, bytes, 0, true);
        case 10:
            return world.show(pid, std::min(bytes, 16'384 * kMib));
        case 11:
            return world.advance((1 + number % 4096) * kMs);
        case 12:
            return world.stop(pid, flag);
        case 13:
            return flag ? world.bury(pid) : world.exit(pid);
        case 14:
            return world.set_limit(static_cast<int>(who % LeaseWorld::kInstances),
                                   std::min(bytes, 8192 * kMib), flag);
        default:
            if (number == 0x5353) return world.ask(pid, What::usage, 0, !flag);
            return number == 0x5252 ? world.restart() : world.advance(20 * kMs);
    }
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    fuzz::Input input(data, size);
    fuzz::LeaseWorld world(fuzz::some_settings(input.byte()));
    for (int n = 0; n < fuzz::kMostWords && !input.empty(); ++n) fuzz::speak(world, input);
    world.end();
    return 0;
}
