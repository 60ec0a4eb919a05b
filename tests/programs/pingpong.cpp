// Two processes pass the GPU back and forth by events that they share.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "tests/programs/support/common.hpp"
#include "tests/programs/support/options.hpp"

namespace {

using programs::must;
using programs::say;

struct Settings {
    unsigned long long rounds = 100;
    unsigned long long kernel_us = 100;
    unsigned long long die_after = 0;
    int device = 0;
};

/// What the two processes share besides the events.
struct Table {
    CUipcEventHandle handles[2];
    std::atomic<unsigned long long> turns;      ///< Taken so far; changed in the order of the streams.
    std::atomic<unsigned long long> played[2];  ///< Of those, each player's.
    std::atomic<unsigned long long> out_of_turn;
};

/// A player's end of a pipe in each direction, by which it tells the other one that an event was recorded.
struct Line {
    int to_other;
    int from_other;

    /// The other process may have ended; hear() reports that.
    void tell() const {
        const char word = '.';
        if (write(to_other, &word, 1) != 1) return;
    }
    /// @return false when the other process has ended.
    bool hear() const {
        char word = 0;
        return read(from_other, &word, 1) == 1;
    }
};

struct Turn {
    Table* table;
    unsigned long long number;
};

/// Runs in the order of the stream.
void take_turn(void* data) {
    const Turn* turn = static_cast<Turn*>(data);
    if (turn->table->turns != turn->number) ++turn->table->out_of_turn;
    ++turn->table->turns;
    ++turn->table->played[turn->number % 2];
}

/// Leaves an event behind that is recorded and never happens.
[[noreturn]] void die(const Line& line, CUfunction busy, CUstream stream, CUevent own) {
    must(cuStreamSynchronize(stream), "cuStreamSynchronize");
    unsigned long long hour = 3'600'000'000;
    void* parameters[] = {&hour};
    must(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
    must(cuEventRecord(own, stream), "cuEventRecord");
    line.tell();
    raise(SIGKILL);
    std::abort();
}

/// Player 0 begins. In each round a player's stream waits for the other's event, works, and records its own;
/// neither process waits for the GPU itself.
void play(const Settings& settings, Table& table, const Line& line, int player) {
    programs::use_device(settings.device);
    CUfunction busy = programs::kernel("busy");
    CUstream stream = nullptr;
    CUevent own = nullptr;
    CUevent others = nullptr;
    must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    must(cuEventCreate(&own, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    must(cuIpcGetEventHandle(&table.handles[player], own), "cuIpcGetEventHandle");
    line.tell();
    if (!line.hear()) return;
    must(cuIpcOpenEventHandle(&others, table.handles[1 - player]), "cuIpcOpenEventHandle");
    std::vector<Turn> turns(settings.rounds);
    for (unsigned long long round = 0; round < settings.rounds; ++round) {
        const bool begins = round == 0 && player == 0;
        if (!begins) {
            if (!line.hear()) break;
            must(cuStreamWaitEvent(stream, others, 0), "cuStreamWaitEvent");
        }
        if (player == 1 && settings.die_after > 0 && round == settings.die_after)
            die(line, busy, stream, own);
        unsigned long long us = settings.kernel_us;
        void* parameters[] = {&us};
        must(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "cuLaunchKernel");
        turns[round] = {&table, 2 * round + static_cast<unsigned long long>(player)};
        must(cuLaunchHostFunc(stream, take_turn, &turns[round]), "cuLaunchHostFunc");
        must(cuEventRecord(own, stream), "cuEventRecord");
        line.tell();
    }
    must(cuStreamSynchronize(stream), "cuStreamSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
    programs::Options options(
        "Two processes take turns by events that they share; prints 'rounds N' that both played, "
        "'out_of_turn "
        "N' and 'other_died N'");
    Settings settings;
    options.value("--rounds", settings.rounds);
    options.value("--kernel-us", settings.kernel_us, "What each does in its turn");
    options.value("--die-after", settings.die_after,
                  "The second process kills itself after that many rounds, with its event recorded");
    options.value("--device", settings.device);
    if (const auto status = options.parse(argc, argv)) return *status;

    void* memory = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int there[2];
    int back[2];
    if (memory == MAP_FAILED || pipe(there) != 0 || pipe(back) != 0) {
        std::perror("pingpong");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    auto* table = new (memory) Table{};
    const pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(there[1]);
        close(back[0]);
        play(settings, *table, Line{back[1], there[0]}, 1);
        return 0;
    }
    close(there[0]);
    close(back[1]);
    play(settings, *table, Line{there[1], back[0]}, 0);
    int status = 0;
    waitpid(other, &status, 0);
    say("rounds", std::min(table->played[0].load(), table->played[1].load()));
    say("out_of_turn", table->out_of_turn);
    say("other_died", WIFSIGNALED(status) ? 1 : 0);
    return WIFSIGNALED(status) || table->out_of_turn > 0 ? 1 : 0;
}
