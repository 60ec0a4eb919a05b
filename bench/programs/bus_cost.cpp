// Round trips over the system bus, in turns: the read of a property of cgpud and of a bare sd-bus service,
// and a change of a GPU's policy and the same writes to the disk without cgpud. Prints medians in
// microseconds as JSON. usage: bus_cost ROUNDS GPU_OBJECT STATE_FILE
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr const char* kService = "org.cgpu1.bench";
constexpr const char* kInterface = "org.cgpu1.Bench";

void must(bool done, const char* what) {
    if (done) return;
    std::fprintf(stderr, "bus_cost: %s failed\n", what);
    std::_Exit(1);
}

int answer(sd_bus*, const char*, const char*, const char*, sd_bus_message* reply, void*, sd_bus_error*) {
    return sd_bus_message_append(reply, "s", "1.0.0");
}

/// Serves the property Version of the object /bench, and then writes to the pipe.
[[noreturn]] void serve(int to) {
    static const std::array<sd_bus_vtable, 3> table = {
        sd_bus_vtable SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Version", "s", answer, 0, SD_BUS_VTABLE_PROPERTY_CONST), SD_BUS_VTABLE_END};
    sd_bus* bus = nullptr;
    must(sd_bus_open_system(&bus) >= 0, "connecting to the bus");
    must(sd_bus_add_object_vtable(bus, nullptr, "/bench", kInterface, table.data(), nullptr) >= 0, "serving");
    must(sd_bus_request_name(bus, kService, 0) >= 0, "taking the name org.cgpu1.bench");
    must(write(to, "+", 1) == 1, "writing");
    for (;;) {
        if (sd_bus_process(bus, nullptr) == 0) sd_bus_wait(bus, UINT64_MAX);
    }
}

void start_service() {
    std::array<int, 2> ends{};
    must(pipe(ends.data()) == 0, "making a pipe");
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(ends[1]);
    }
    char ready = 0;
    must(read(ends[0], &ready, 1) == 1, "starting the service");
}

template <class Do>
double microseconds(Do action) {
    const auto began = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
}

void read_property(sd_bus* bus, const char* service, const char* object, const char* interface) {
    char* value = nullptr;
    must(sd_bus_get_property_string(bus, service, object, interface, "Version", nullptr, &value) >= 0,
         "reading");
    std::free(value);
}

void set_policy(sd_bus* bus, const char* gpu, const char* policy) {
    must(sd_bus_call_method(bus, "org.cgpu1", gpu, "org.cgpu1.Gpu", "SetPolicy", nullptr, nullptr, "sa{sv}",
                            policy, 0) >= 0,
         "SetPolicy (it takes root)");
}

/// What a change of the state costs the disk: a file of its size and its folder, both synced.
void save(const std::string& folder, const std::string& content) {
    const std::string beside = folder + "/bench.new";
    const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(file >= 0 && write(file, content.data(), content.size()) >= 0 && fsync(file) == 0,
         "writing the file");
    close(file);
    must(rename(beside.c_str(), (folder + "/bench").c_str()) == 0, "renaming");
    const int its_folder = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(its_folder >= 0 && fsync(its_folder) == 0, "syncing the folder");
    close(its_folder);
}

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    must(argc == 4, "reading the arguments: ROUNDS GPU_OBJECT STATE_FILE");
    const int rounds = std::atoi(argv[1]);
    must(rounds > 0, "reading the number of rounds");
    const std::string state = argv[3];
    const std::string folder = state.substr(0, state.rfind('/'));
    struct stat its {};
    must(stat(state.c_str(), &its) == 0, "reading the state's size");
    const std::string content(static_cast<std::size_t>(its.st_size), 'x');

    start_service();
    sd_bus* bus = nullptr;
    must(sd_bus_open_system(&bus) >= 0, "connecting to the bus");
    std::vector<double> of_cgpud;
    std::vector<double> of_service;
    std::vector<double> changes;
    std::vector<double> saves;
    for (int round = -rounds / 10; round < rounds; ++round) {
        const double cgpud =
            microseconds([&] { read_property(bus, "org.cgpu1", "/org/cgpu1", "org.cgpu1.Manager"); });
        const double bare = microseconds([&] { read_property(bus, kService, "/bench", kInterface); });
        if (round < 0) continue;  // warming up
        of_cgpud.push_back(cgpud);
        of_service.push_back(bare);
        // Both after five reads: a write that follows another one at once finds the disk's journal ready.
        if (round % 10 == 0)
            changes.push_back(
                microseconds([&] { set_policy(bus, argv[2], round % 20 == 0 ? "weighted" : "fixed"); }));
        if (round % 10 == 5) saves.push_back(microseconds([&] { save(folder, content); }));
    }
    unlink((folder + "/bench").c_str());
    std::printf(
        "{\"read_us\": %.2f, \"bare_read_us\": %.2f, \"set_policy_us\": %.2f, \"two_synced_writes_us\": "
        "%.2f}\n",
        median(of_cgpud), median(of_service), median(changes), median(saves));
    return 0;
}
