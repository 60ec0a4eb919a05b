// Floods cgpud with calls of one method, and reads none of the answers: connects, sends many calls, hangs up,
// and begins again. With --stay it doesn't hang up.
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/programs/support/options.hpp"

namespace {

struct Method {
    const char* name;
    const char* path;
    const char* interface;
    const char* argument;  ///< a string; null: none
};

constexpr const char* kManager = "org.cgpu1.Manager";
constexpr Method kMethods[] = {
    {"GetManagedObjects", "/org/cgpu1", "org.freedesktop.DBus.ObjectManager", nullptr},
    {"GetAll", "/org/cgpu1", "org.freedesktop.DBus.Properties", kManager},
    {"Introspect", "/org/cgpu1", "org.freedesktop.DBus.Introspectable", nullptr},
    {"Describe", "/org/cgpu1", kManager, nullptr},
    {"GetUsage", "/org/cgpu1", kManager, nullptr},
    {"GetConfiguration", "/org/cgpu1", kManager, nullptr},
    {"Examine", "/org/cgpu1", kManager, nullptr},
    {"OpenHistory", "/org/cgpu1", kManager, nullptr},
};

const Method* find(const std::string& name) {
    for (const Method& method : kMethods)
        if (name == method.name) return &method;
    return nullptr;
}

/// False: the bus has ended the connection, or takes nothing more.
bool send_one(sd_bus* bus, const Method& method) {
    sd_bus_message* message = nullptr;
    if (sd_bus_message_new_method_call(bus, &message, "org.cgpu1", method.path, method.interface,
                                       method.name) < 0)
        return false;
    bool sent = method.argument == nullptr || sd_bus_message_append(message, "s", method.argument) >= 0;
    // With a cookie the bus counts it as a call that is to be answered.
    std::uint64_t cookie = 0;
    sent = sent && sd_bus_send(bus, message, &cookie) >= 0;
    sd_bus_message_unref(message);
    return sent;
}

}  // namespace

int main(int argc, char** argv) {
    std::string name = "GetManagedObjects";
    unsigned calls = 2000;
    unsigned seconds = 10;
    unsigned pause_us = 0;
    bool stay = false;
    programs::Options options("flood_calls: calls of cgpud whose answers nobody reads");
    options.value("--method", name);
    options.value("--calls", calls, "of one connection").positive();
    options.value("--seconds", seconds).positive();
    options.value("--pause-us", pause_us, "after every 16 calls");
    options.flag("--stay", stay, "do not hang up");
    if (const auto status = options.parse(argc, argv)) return *status;
    const Method* method = find(name);
    if (method == nullptr) {
        std::fprintf(stderr, "%s is not one of its methods\n", name.c_str());
        return 2;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    const auto over = [end] { return std::chrono::steady_clock::now() >= end; };
    unsigned long long sent = 0;
    unsigned long long connections = 0;
    while (!over()) {
        sd_bus* bus = nullptr;
        if (const int opened = sd_bus_open_system(&bus); opened < 0) {
            std::fprintf(stderr, "connecting to the bus: %s\n", std::strerror(-opened));
            return 1;
        }
        ++connections;
        // Flushing writes and waits, and reads nothing.
        for (unsigned i = 0; !over() && (stay || i < calls); ++i, ++sent) {
            if (!send_one(bus, *method)) break;
            if (i % 16 != 0) continue;
            if (sd_bus_flush(bus) < 0) break;
            if (pause_us != 0) usleep(pause_us);
        }
        if (!stay) sd_bus_flush(bus);
        while (stay && !over()) usleep(10'000);
        sd_bus_close(bus);
        sd_bus_unref(bus);
    }
    std::printf("sent %llu calls over %llu connections\n", sent, connections);
    return 0;
}
