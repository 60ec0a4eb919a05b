// Sends cgpud calls on the bus that are as long as the bus allows, and says how the last one is answered.
#include <systemd/sd-bus.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/programs/support/options.hpp"

namespace {

constexpr std::uint64_t kPatience = 60'000'000;  // microseconds

/// Makes a CreateInstance with so many variables of 1000 characters each; null where the library refuses.
sd_bus_message* long_call(sd_bus* bus, unsigned variables) {
    sd_bus_message* message = nullptr;
    if (sd_bus_message_new_method_call(bus, &message, "org.cgpu1", "/org/cgpu1", "org.cgpu1.Manager",
                                       "CreateInstance") < 0)
        return nullptr;
    const std::string text(1000, 'x');
    bool good = sd_bus_message_append(message, "ss", "abc", "abc") >= 0 &&
                sd_bus_message_open_container(message, 'a', "{ss}") >= 0;
    for (unsigned i = 0; good && i < variables; ++i)
        good =
            sd_bus_message_append(message, "{ss}", ("CGPU_" + std::to_string(i)).c_str(), text.c_str()) >= 0;
    good = good && sd_bus_message_close_container(message) >= 0 &&
           sd_bus_message_append(message, "a{sv}", 0) >= 0;
    return good ? message : sd_bus_message_unref(message);
}

}  // namespace

int main(int argc, char** argv) {
    unsigned calls = 8;
    unsigned variables = 27 * 1024;
    programs::Options options("long_calls: calls of CreateInstance that are far too long");
    options.value("--calls", calls).positive();
    options.value("--variables", variables, "of 1000 characters, in each call");
    if (const auto status = options.parse(argc, argv)) return *status;
    sd_bus* bus = nullptr;
    if (sd_bus_open_system(&bus) < 0) return 1;
    std::vector<sd_bus_message*> messages;
    for (unsigned i = 0; i < calls; ++i) messages.push_back(long_call(bus, variables));
    for (sd_bus_message* message : messages)
        if (message == nullptr) return 1;
    // All but the last are in flight before the first is answered.
    for (unsigned i = 0; i + 1 < calls; ++i)
        if (sd_bus_send(bus, messages[i], nullptr) < 0) return 1;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message* reply = nullptr;
    const int status = sd_bus_call(bus, messages.back(), kPatience, &error, &reply);
    std::printf("%s\n%s\n", error.name != nullptr ? error.name : "no error",
                error.message != nullptr ? error.message : std::to_string(status).c_str());
    sd_bus_error_free(&error);
    sd_bus_message_unref(reply);
    for (sd_bus_message* message : messages) sd_bus_message_unref(message);
    sd_bus_flush_close_unref(bus);
    return 0;
}
