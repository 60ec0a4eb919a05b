#include <gtest/gtest.h>

#include "daemon/gpu/messages/answer.hpp"
#include "daemon/gpu/messages/question.hpp"

namespace cgpu::gpu {
namespace {

using app::DriverFigures;
using model::SeenGpus;

model::Uuid uuid(std::uint8_t last) {
    model::Uuid::Raw raw{};
    raw[15] = last;
    return model::Uuid(raw);
}

SeenGpus seen() {
    SeenGpus all;
    all.gpus = {{uuid(1), 0, "Tesla V100", model::Bytes(16'913'530'880), ""},
                {uuid(2), 7, "\xff name", model::Bytes(~0ULL), "it is in MIG mode"}};
    all.gpus[0].pci = model::PciAddress{0, 0x3b, 0};
    all.memory_used = {{uuid(1), model::Bytes(0)}, {uuid(2), model::Bytes(5)}};
    all.lost = {{3, "GPU is lost"}};
    all.xids = {{uuid(1), 79}};
    all.mps_servers = {{uuid(2), 4321}};
    return all;
}

TEST(GpuMessages, QuestionsAreReadAsTheyWereWritten) {
    for (const Question& question :
         {Question{1, Question::Ask::list, {}}, Question{~0ULL, Question::Ask::processes, uuid(9)},
          Question{0, Question::Ask::examine, {}}, Question{3, Question::Ask::utilization, uuid(9), ~0ULL}}) {
        const auto read = parse_question(encode(question));
        ASSERT_TRUE(read) << read.error();
        EXPECT_EQ(*read, question);
    }
}

TEST(GpuMessages, WhatIsNoQuestion) {
    const auto why = [](const char* line) {
        const auto question = parse_question(line);
        return question ? std::string("none") : question.error();
    };
    EXPECT_EQ(why("list"), "it is no JSON object of a few levels");
    EXPECT_EQ(why("[]"), "it is no JSON object of a few levels");
    EXPECT_EQ(why(R"({"ask":"list"})"), "id: it is missing");
    EXPECT_EQ(why(R"({"id":-1,"ask":"list"})"), "id: it is no number in its range");
    EXPECT_EQ(why(R"({"id":1,"ask":"lists"})"),
              "ask: it is none of list, processes, examine and utilization");
    EXPECT_EQ(why(R"({"id":1,"ask":"processes"})"), "gpu: it is missing");
    EXPECT_NE(why(R"({"id":1,"ask":"processes","gpu":"0"})").find("gpu: "), std::string::npos);
    EXPECT_EQ(why(R"({"id":1,"ask":"utilization","after":0})"), "gpu: it is missing");
    EXPECT_EQ(why(R"({"id":1,"ask":"utilization","gpu":"GPU-00000000-0000-0000-0000-000000000009"})"),
              "after: it is missing");
    EXPECT_EQ(why((std::string(200'000, '[')).c_str()), "it is no JSON object of a few levels");
}

TEST(GpuMessages, WhatTheReaderSees) {
    const auto read = parse_answer<SeenGpus>(encode(7, seen()));
    ASSERT_TRUE(read && read->result);
    EXPECT_EQ(read->id, 7U);
    EXPECT_EQ(read->result->gpus[0], seen().gpus[0]);
    EXPECT_EQ(read->result->gpus[0].pci, (model::PciAddress{0, 0x3b, 0}));
    EXPECT_EQ(read->result->gpus[1].pci, std::nullopt);
    EXPECT_EQ(read->result->gpus[1].model_name, "\xef\xbf\xbd name") << "no UTF-8";
    EXPECT_EQ(read->result->gpus[1].total, model::Bytes(~0ULL));
    EXPECT_EQ(read->result->gpus[1].obstacle, "it is in MIG mode");
    EXPECT_EQ(read->result->memory_used, seen().memory_used);
    EXPECT_EQ(read->result->lost, seen().lost);
    EXPECT_EQ(read->result->xids, seen().xids);
    EXPECT_EQ(read->result->mps_servers, seen().mps_servers);
}

TEST(GpuMessages, Processes) {
    const auto read =
        parse_answer<DriverFigures>(encode(8, DriverFigures{{{1, 0}, {2147483647, ~0ULL}}, 5, ~0ULL}));
    ASSERT_TRUE(read && read->result);
    ASSERT_EQ(read->result->processes.size(), 2U);
    EXPECT_EQ(read->result->processes[1].pid, 2147483647);
    EXPECT_EQ(read->result->processes[1].bytes, ~0ULL);
    EXPECT_EQ(read->result->used_before, 5U);
    EXPECT_EQ(read->result->used_after, ~0ULL);
    const auto silent = parse_answer<DriverFigures>(encode(8, DriverFigures{{{1, 0}}}));
    ASSERT_TRUE(silent && silent->result);
    EXPECT_EQ(silent->result->used_before, std::nullopt);
    EXPECT_EQ(silent->result->used_after, std::nullopt);
    EXPECT_FALSE(parse_answer<DriverFigures>(R"({"id":8,"processes":[],"used_before":-1})"));
}

TEST(GpuMessages, Utilization) {
    using Samples = std::vector<app::UtilizationSample>;
    const auto read = parse_answer<Samples>(encode(8, Samples{{1, 250, ~0ULL}, {2147483647, ~0ULL, 0}}));
    ASSERT_TRUE(read && read->result);
    ASSERT_EQ(read->result->size(), 2U);
    EXPECT_EQ((*read->result)[0].percent, 250U);
    EXPECT_EQ((*read->result)[0].time_us, ~0ULL);
    EXPECT_EQ((*read->result)[1].pid, 2147483647);
    EXPECT_FALSE(parse_answer<Samples>(R"({"id":8,"samples":[{"pid":-1,"percent":1,"time":1}]})"));
    EXPECT_FALSE(parse_answer<Samples>(R"({"id":8,"samples":[{"pid":1,"percent":1.5,"time":1}]})"));
    EXPECT_FALSE(parse_answer<Samples>(R"({"id":8,"processes":[]})"));
}

TEST(GpuMessages, AnExamination) {
    const app::DriverLimits limits{app::DriverLimits::Backend::dmem, "", model::Bytes(9)};
    const app::ExaminedDriver driver{
        "580.65.06",
        {{uuid(1), true, {{5, 6}}, limits},
         {uuid(2), std::nullopt, {}, {app::DriverLimits::Backend::none, "too old", std::nullopt}}}};
    const auto read = parse_answer<app::ExaminedDriver>(encode(9, driver));
    ASSERT_TRUE(read && read->result);
    EXPECT_EQ(read->result->version, "580.65.06");
    ASSERT_EQ(read->result->gpus.size(), 2U);
    EXPECT_EQ(read->result->gpus[0].persistence, true);
    EXPECT_EQ(read->result->gpus[0].processes.size(), 1U);
    EXPECT_EQ(read->result->gpus[0].limits, limits);
    EXPECT_EQ(read->result->gpus[1].persistence, std::nullopt);
    EXPECT_EQ(read->result->gpus[1].limits, driver.gpus[1].limits);
}

TEST(GpuMessages, ARefusalAnswersEveryQuestion) {
    const model::Refusal refusal{model::Refusal::Reason::not_found, "GPU-0: gone. Try: nvidia-smi -L."};
    const auto line = encode(3, refusal);
    EXPECT_EQ(parse_answer<SeenGpus>(line)->result.error(), refusal);
    EXPECT_EQ(parse_answer<DriverFigures>(line)->result.error(), refusal);
    EXPECT_EQ(parse_answer<app::ExaminedDriver>(line)->result.error(), refusal);
}

TEST(GpuMessages, WhatIsNoAnswer) {
    const auto whole = encode(7, seen());
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(parse_answer<SeenGpus>(std::string_view(whole).substr(0, length)));
    EXPECT_FALSE(parse_answer<DriverFigures>(whole)) << "that of another question";
    for (const char* line :
         {R"({"id":1,"processes":[{"pid":-1,"bytes":0}]})",
          R"({"id":1,"processes":[{"pid":2147483648,"bytes":0}]})",
          R"({"id":1,"processes":[{"pid":1,"bytes":1.5}]})", R"({"id":1,"processes":[1]})",
          R"({"id":1,"processes":{}})", R"({"id":1,"refusal":{"reason":"storage","text":""}})",
          R"({"id":1,"refusal":{"reason":"unsupported"}})"})
        EXPECT_FALSE(parse_answer<DriverFigures>(line)) << line;
}

}  // namespace
}  // namespace cgpu::gpu
