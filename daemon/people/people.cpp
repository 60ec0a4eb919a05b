#include "daemon/people/people.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "daemon/people/answer/answer.hpp"

namespace cgpu::people {
namespace {

using model::Refusal;

/// More than the longest answer: 65536 groups with names of 32 characters.
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

std::string describe(const app::PersonWord& who) {
    const auto* id = std::get_if<std::uint32_t>(&who);
    return id != nullptr ? "user id " + std::to_string(*id) : "user " + std::get<std::string>(who);
}

tl::unexpected<Refusal> unknown(const app::PersonWord& who, const std::string& why,
                                const char* remedy = "getent passwd, which asks the same name service") {
    return model::refuse(Refusal::Reason::unsupported, "the name and the groups of " + describe(who), why,
                         remedy);
}

/// The program with its output in a pipe. An error number; 0: it runs.
int spawn(const std::filesystem::path& program, const app::PersonWord& who, int out, pid_t& child) {
    const auto* id = std::get_if<std::uint32_t>(&who);
    std::string name = program.native();
    std::string kind = id != nullptr ? "id" : "name";
    std::string word = id != nullptr ? std::to_string(*id) : std::get<std::string>(who);
    std::array<char*, 4> arguments{name.data(), kind.data(), word.data(), nullptr};
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    // cgpud blocks SIGTERM and others, which must end the child.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int error = posix_spawn(&child, name.c_str(), &files, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

}  // namespace

/// Its child is killed with it: whoever hangs in a name service holds nobody up.
struct People::Question {
    Question(std::uint64_t its_number, app::PersonWord its_who, std::vector<pid_t>& its_killed)
        : number(its_number), who(std::move(its_who)), killed(its_killed) {}
    ~Question() {
        output.reset();  // a watch of a descriptor goes before the descriptor does
        if (pipe >= 0) close(pipe);
        if (child <= 0) return;
        // Its end hasn't been collected yet, so the number is still its own.
        kill(child, SIGKILL);
        killed.push_back(child);
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

    std::uint64_t number;
    app::PersonWord who;
    std::vector<pid_t>& killed;
    std::vector<Found> found;  ///< all that have asked the same
    pid_t child = 0;
    int pipe = -1;
    std::string text;
    app::WatchPtr output;
    app::WatchPtr deadline;
};

People::People(app::Loop& loop, std::filesystem::path program) : loop_(loop), program_(std::move(program)) {}

People::~People() {
    open_.clear();
    reap();
}

/// Without waiting: one that hangs in the kernel ends later.
void People::reap() {
    std::erase_if(killed_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
}

void People::look_up(const app::PersonWord& who, Found found) {
    for (auto& [number, question] : open_)
        if (question->who == who) return question->found.push_back(std::move(found));
    const auto number = ++last_;
    open_.emplace(number, std::make_unique<Question>(number, who, killed_))
        .first->second->found.push_back(std::move(found));
    start_more();
}

void People::start_more() {
    for (auto& [number, question] : open_) {
        if (running_ >= kMostAtOnce) return;
        if (question->child == 0 && !question->deadline) start(*question);
    }
}

void People::start(Question& question) {
    ++running_;
    reap();
    std::array<int, 2> ends{};
    int error = pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno;
    if (error == 0) {
        question.pipe = ends[0];
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        error = spawn(program_, question.who, ends[1], question.child);
        close(ends[1]);
    }
    const auto later = [this, number = question.number](const auto& then) {
        return [this, number, then](auto...) {
            if (const auto open = open_.find(number); open != open_.end()) then(*open->second);
        };
    };
    if (error != 0) {
        question.child = 0;
        const std::string why = program_.native() + " can't be started: " + std::strerror(error);
        question.deadline = loop_.at(
            loop_.now(), later([this, why](Question& its) {
                answer(its, unknown(its.who, why, "install cgpu again (apt install --reinstall cgpu)"));
            }));
        return;
    }
    question.output = loop_.watch(question.pipe, EPOLLIN, later([this](Question& its) { readable(its); }));
    question.deadline = loop_.at(loop_.now() + kPatience, later([this](Question& its) {
                                     answer(its, unknown(its.who, "the name service doesn't answer"));
                                 }));
}

void People::readable(Question& question) {
    std::array<char, 4096> buffer{};
    for (;;) {
        const auto got = read(question.pipe, buffer.data(), buffer.size());
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) break;
        question.text.append(buffer.data(), static_cast<std::size_t>(got));
        if (question.text.size() > kMostBytes) break;
    }
    auto person = read_answer(question.text);
    if (person) return answer(question, *person);
    answer(question, unknown(question.who, "the name service has failed"));
}

void People::answer(Question& question, const app::Result<app::Person>& person) {
    const auto all = std::move(question.found);
    open_.erase(question.number);
    --running_;
    start_more();
    for (const auto& found : all) found(person);
}

}  // namespace cgpu::people
