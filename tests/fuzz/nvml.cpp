// A question to the reader of NVML, and its answers: what was read is written, and read again to the same.
#include <string>
#include <vector>

#include "daemon/gpu/messages/answer.hpp"
#include "daemon/gpu/messages/question.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {
namespace {

template <class T>
void read_as(std::string_view line) {
    const auto answer = gpu::parse_answer<T>(line);
    if (!answer) return;
    const auto written = [](const gpu::Answer<T>& each) {
        return each.result ? gpu::encode(each.id, *each.result) : gpu::encode(each.id, each.result.error());
    };
    const std::string once = written(*answer);
    must(once.find('\n') == std::string::npos, "an answer is one line");
    const auto again = gpu::parse_answer<T>(once);
    must(again && again->id == answer->id && written(*again) == once,
         "what was read is written and read again to the same");
}

void expect_pids(std::string_view line) {
    const auto answer = gpu::parse_answer<app::DriverFigures>(line);
    if (!answer || !answer->result) return;
    for (const auto& process : answer->result->processes)
        must(process.pid >= 0, "a pid is no negative number");
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    const auto line = fuzz::Input(data, size).text();
    fuzz::read_as<model::SeenGpus>(line);
    fuzz::read_as<app::DriverFigures>(line);
    fuzz::read_as<app::ExaminedDriver>(line);
    fuzz::read_as<std::vector<app::UtilizationSample>>(line);
    fuzz::expect_pids(line);
    if (const auto question = gpu::parse_question(line)) {
        const auto again = gpu::parse_question(gpu::encode(*question));
        fuzz::must(again && *again == *question,
                   "a question that was read is written and read again to the same");
    } else {
        fuzz::must_be_a_line(question.error(), "what is wrong is said in one line of printable ASCII");
    }
    return 0;
}
