#include "tests/programs/fire/master.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <system_error>

#include "tests/programs/fire/worker.hpp"

namespace programs::fire {
namespace {

constexpr std::int64_t kLookEvery = kMillisecond / 2;

Desk* make_desk() {
    void* memory = mmap(nullptr, sizeof(Desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "shared memory");
    return new (memory) Desk{};
}

}  // namespace

Master::Master(const Plan& plan)
    : plan_(plan), journal_(plan.journal), chance_(plan.seed), workers_(plan.at_once) {
    for (Worker& worker : workers_) worker.desk = make_desk();
}

bool Master::run() {
    while (true) {
        bool any = false;
        for (Worker& worker : workers_) {
            if (worker.pid == 0 && started_ < plan_.processes) start(worker);
            if (worker.pid != 0 && !look_after(worker)) return false;
            any = any || worker.pid != 0;
        }
        if (!any) return true;
        sleep_ns(kLookEvery);
    }
}

void Master::start(Worker& worker) {
    worker.desk->clear();
    const bool early = chance_.one_in(5);
    worker.steps = early ? 0 : 1 + chance_.below(plan_.steps);
    worker.after_ns = chance_.time_below((early ? 20 : 2) * kMillisecond);
    worker.stop_at = !early && chance_.one_in(5) ? 1 + chance_.below(worker.steps) : 0;
    worker.due_ns = worker.stopped_ns = 0;
    const auto seed = chance_.seed();
    const std::int64_t now = now_ns();
    worker.pid = fork();
    if (worker.pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (worker.pid == 0) work(plan_, journal_, seed, *worker.desk);
    ++started_;
    journal_.note("born " + std::to_string(worker.pid) + ' ' + std::to_string(now));
}

bool Master::look_after(Worker& worker) {
    int status = 0;
    if (waitpid(worker.pid, &status, WNOHANG) != 0) return false;
    const std::int64_t now = now_ns();
    const std::uint64_t steps = worker.desk->steps;
    if (worker.due_ns == 0 && steps >= worker.steps) worker.due_ns = now + worker.after_ns;
    if (worker.due_ns != 0 && now >= worker.due_ns) return kill_it(worker);
    if (worker.stopped_ns != 0) {
        if (now < worker.go_on_ns) return true;
        note_stop(worker);
        kill(worker.pid, SIGCONT);
        return true;
    }
    if (worker.stop_at != 0 && steps >= worker.stop_at) return stop(worker);
    return true;
}

bool Master::stop(Worker& worker) {
    worker.stopped_ns = now_ns();
    kill(worker.pid, SIGSTOP);
    int status = 0;
    if (waitpid(worker.pid, &status, WUNTRACED) != worker.pid || !WIFSTOPPED(status)) return false;
    worker.asked.clear();
    for (const int device : plan_.devices) worker.asked.push_back(worker.desk->asked(device));
    worker.stop_at = 0;
    worker.go_on_ns = now_ns() + 5 * kMillisecond + chance_.time_below(500 * kMillisecond);
    // Some workers are killed before they go on.
    if (chance_.one_in(4)) worker.due_ns = worker.go_on_ns - 1;
    return true;
}

void Master::note_stop(Worker& worker) {
    for (std::size_t i = 0; i < plan_.devices.size(); ++i) {
        journal_.note("stopped " + std::to_string(worker.pid) + ' ' + std::to_string(plan_.devices[i]) + ' ' +
                      std::to_string(worker.stopped_ns) + ' ' + std::to_string(now_ns()) + ' ' +
                      std::to_string(worker.asked[i]));
    }
    worker.stopped_ns = 0;
}

bool Master::kill_it(Worker& worker) {
    kill(worker.pid, SIGKILL);
    int status = 0;
    const bool as_planned =
        waitpid(worker.pid, &status, 0) == worker.pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (worker.stopped_ns != 0) note_stop(worker);
    const std::int64_t now = now_ns();
    for (const int device : plan_.devices) {
        journal_.note("dead " + std::to_string(worker.pid) + ' ' + std::to_string(device) + ' ' +
                      std::to_string(now) + ' ' + std::to_string(worker.desk->asked(device)) + ' ' +
                      std::to_string(worker.desk->asked_since(device, now)));
    }
    worker.pid = 0;
    return as_planned;
}

}  // namespace programs::fire
