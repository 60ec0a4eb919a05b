#include "daemon/gpu/reader/answers.hpp"

#include "daemon/gpu/messages/answer.hpp"
#include "daemon/gpu/messages/question.hpp"

namespace cgpu::gpu {
namespace {

template <class T>
std::string encode_either(std::uint64_t id, const app::Result<T>& result) {
    return result ? encode(id, *result) : encode(id, result.error());
}

}  // namespace

std::string answer_to(const std::string& line, NvmlReader& reader) {
    const auto question = parse_question(line);
    if (!question)
        return encode(0, model::make_refusal(model::Refusal::Reason::unsupported, "the question",
                                             question.error(), R"({"id":1,"ask":"list"})"));
    switch (question->ask) {
        case Question::Ask::list:
            return encode_either(question->id, reader.list());
        case Question::Ask::processes:
            return encode_either(question->id, reader.processes(question->gpu.value_or(model::Uuid())));
        case Question::Ask::examine:
            return encode_either(question->id, reader.examine());
        case Question::Ask::utilization:
            return encode_either(
                question->id, reader.utilization(question->gpu.value_or(model::Uuid()), question->after_us));
    }
    return {};
}

}  // namespace cgpu::gpu
