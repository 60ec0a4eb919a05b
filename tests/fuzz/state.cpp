// A state.json that was read is written, and read again to the same.
#include "daemon/store/state_json.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    const auto state = store::read_state(fuzz::Input(data, size).text());
    if (!state) {
        fuzz::must_be_a_line(state.error().why, "what is wrong is said in one line of printable ASCII");
        return 0;
    }
    const auto written = store::write_state(*state);
    const auto again = store::read_state(written);
    fuzz::must(again.has_value(), "what was written can be read");
    fuzz::must(*again == *state, "what was read is written and read again to the same");
    fuzz::must(store::write_state(*again) == written, "one state has one text");
    return 0;
}
