// Kills cgpud, and says how long it takes until it is on the bus again and has heard of its instances'
// processes. It keeps one connection to the bus, starts nothing by its calls, and so delays nothing that it
// measures.
#include <signal.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "tests/programs/support/options.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point began) {
    return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

/// The unique name of cgpud's connection; empty if there is none.
std::string owner(sd_bus* bus) {
    sd_bus_message* reply = nullptr;
    const char* name = nullptr;
    std::string found;
    if (sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                           "GetNameOwner", nullptr, &reply, "s", "org.cgpu1") >= 0 &&
        sd_bus_message_read(reply, "s", &name) >= 0)
        found = name;
    sd_bus_message_unref(reply);
    return found;
}

/// Reads the properties of one interface: a{sv}. True if one of them is a ModuleVersion that isn't empty.
bool read_properties(sd_bus_message* reply) {
    bool connected = false;
    sd_bus_message_enter_container(reply, 'a', "{sv}");
    while (sd_bus_message_enter_container(reply, 'e', "sv") > 0) {
        const char* name = "";
        sd_bus_message_read(reply, "s", &name);
        if (std::string(name) == "ModuleVersion") {
            const char* version = "";
            connected = sd_bus_message_read(reply, "v", "s", &version) >= 0 && *version != '\0';
        } else {
            sd_bus_message_skip(reply, "v");
        }
        sd_bus_message_exit_container(reply);
    }
    sd_bus_message_exit_container(reply);
    return connected;
}

/// The number of instances that have reported which module their processes run, and so are connected.
unsigned connected(sd_bus* bus) {
    sd_bus_message* call = nullptr;
    sd_bus_message* reply = nullptr;
    unsigned count = 0;
    sd_bus_message_new_method_call(bus, &call, "org.cgpu1", "/org/cgpu1",
                                   "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");
    sd_bus_message_set_auto_start(call, 0);
    if (sd_bus_call(bus, call, 0, nullptr, &reply) >= 0) {
        sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}");
        while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
            sd_bus_message_skip(reply, "o");
            sd_bus_message_enter_container(reply, 'a', "{sa{sv}}");
            while (sd_bus_message_enter_container(reply, 'e', "sa{sv}") > 0) {
                const char* interface = "";
                sd_bus_message_read(reply, "s", &interface);
                const bool instance = std::string(interface) == "org.cgpu1.Instance";
                if (read_properties(reply) && instance) ++count;
                sd_bus_message_exit_container(reply);
            }
            sd_bus_message_exit_container(reply);
            sd_bus_message_exit_container(reply);
        }
    }
    sd_bus_message_unref(call);
    sd_bus_message_unref(reply);
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    int pid = 0;
    unsigned instances = 0;
    unsigned patience = 20;
    programs::Options options("comeback: how long cgpud and its instances are apart when it is killed");
    options.value("--kill", pid, "the pid of cgpud").required();
    options.value("--instances", instances, "how many must be connected again").required();
    options.value("--patience", patience, "in seconds");
    if (const auto status = options.parse(argc, argv)) return *status;
    sd_bus* bus = nullptr;
    if (sd_bus_open_system(&bus) < 0) return 1;
    const auto before = owner(bus);
    if (before.empty() || connected(bus) != instances) {
        std::fprintf(stderr, "%u instances are connected before it is killed\n", connected(bus));
        return 1;
    }
    const auto began = Clock::now();
    const auto until = began + std::chrono::seconds(patience);
    if (kill(pid, SIGKILL) != 0) return 1;
    for (std::string now = before; now.empty() || now == before; now = owner(bus)) {
        if (Clock::now() > until) return 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::printf("name_ms %.0f\n", milliseconds_since(began));
    for (unsigned count = 0; count < instances;) {
        const auto asked = Clock::now();
        count = connected(bus);
        if (Clock::now() > until) {
            std::fprintf(stderr, "only %u instances are connected again\n", count);
            return 1;
        }
        // It leaves cgpud most of its time, whatever an answer costs.
        if (count < instances) std::this_thread::sleep_for(3 * (Clock::now() - asked));
    }
    std::printf("back_ms %.0f\n", milliseconds_since(began));
    sd_bus_flush_close_unref(bus);
    return 0;
}
