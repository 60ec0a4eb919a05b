#include "client/cgpuctl/bench/bench_tenant.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    all.reserve(words.size() + 1);
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto named = text.substr(0, text.find('=') + 1);
        const bool replaced = std::any_of(settings.begin(), settings.end(), [&](const std::string& setting) {
            return setting.starts_with(named);
        });
        if (!replaced) all.emplace_back(text);
    }
    all.insert(all.end(), settings.begin(), settings.end());
    return all;
}

}  // namespace

client::Result<BenchTenant> BenchTenant::start(const std::vector<std::string>& command,
                                               const std::vector<std::string>& environment) {
    const auto failed = [&](int error) {
        return client::fail(ClientError::Kind::failed,
                            command.front() + ": " + std::strerror(error) + ". Try: install cgpu again.");
    };
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return failed(errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<std::string> words = command;
    std::vector<std::string> settings = environment_with(environment);
    pid_t pid = 0;
    const int error = posix_spawn(&pid, words.front().c_str(), &actions, nullptr, pointers(words).data(),
                                  pointers(settings).data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return failed(error);
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return BenchTenant(pid, ends[0]);
}

BenchTenant::BenchTenant(BenchTenant&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      output_(std::exchange(other.output_, -1)),
      ready_(other.ready_),
      unfinished_(std::move(other.unfinished_)),
      samples_(std::move(other.samples_)) {}

BenchTenant::~BenchTenant() {
    if (output_ >= 0) close(output_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

bool BenchTenant::read() {
    std::array<char, 4096> text{};
    while (true) {
        const auto got = ::read(output_, text.data(), text.size());
        if (got == 0) return false;
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        for (const char byte : std::string_view(text.data(), static_cast<std::size_t>(got))) {
            if (byte != '\n')
                unfinished_ += byte;
            else
                take(std::exchange(unfinished_, {}));
        }
    }
}

void BenchTenant::take(const std::string& line) {
    if (line == "ready") ready_ = true;
    Sample sample;
    const char* end = line.data() + line.size();
    const auto time = std::from_chars(line.data(), end, sample.at_ns);
    if (time.ec != std::errc() || time.ptr == end || *time.ptr != ' ') return;
    if (std::from_chars(time.ptr + 1, end, sample.kernels).ec == std::errc()) samples_.push_back(sample);
}

std::optional<double> rate(const std::vector<BenchTenant::Sample>& samples, std::int64_t from,
                           std::int64_t to) {
    const auto first = std::find_if(samples.begin(), samples.end(),
                                    [&](const BenchTenant::Sample& sample) { return sample.at_ns >= from; });
    const auto last = std::find_if(samples.rbegin(), samples.rend(),
                                   [&](const BenchTenant::Sample& sample) { return sample.at_ns <= to; });
    if (first == samples.end() || last == samples.rend() || last->at_ns <= first->at_ns) return std::nullopt;
    return static_cast<double>(last->kernels - first->kernels) * 1e9 /
           static_cast<double>(last->at_ns - first->at_ns);
}

}  // namespace cgpu::cgpuctl
