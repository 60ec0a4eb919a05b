// What a caller gives the set-uid program: its arguments, and its environment as the kernel keeps it. The
// input is the arguments, each followed by a NUL, then an empty line, then the environment.
#include <stdlib.h>
#include <unistd.h>

#include <vector>

#include "client/enter/request.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {
namespace {

void check_arguments(std::string_view text) {
    std::vector<std::string> arguments;
    while (!text.empty()) arguments.emplace_back(take_until(text, std::string_view("\0", 1)));
    const auto request = enter::read_arguments(arguments);
    if (!request) return must_be_a_refusal(request.error().text);
    const std::string& id = request->instance.str();
    must(!id.empty() && id.front() != '.' && id.find('/') == std::string::npos,
         "an id is the name of a file");
    must_be_a_line(id, "an id is printable");
    must(request->command.size() == arguments.size() - 1 && !request->command.front().empty(),
         "the command is all of the other arguments");
}

void check_environment(std::string_view block) {
    const auto entries = enter::read_environment(block);
    std::string again;
    for (const std::string& entry : entries) {
        must(!entry.empty() && entry.find('\0') == std::string::npos, "an entry is a string of C");
        again += entry + '\0';
    }
    must(enter::read_environment(again) == entries, "what was read is read again to the same");
    for (const char* name : {"LD_LIBRARY_PATH", "CONDA_PREFIX"}) {
        // As the C library finds it.
        std::vector<char*> pointers;
        for (const std::string& entry : entries) pointers.push_back(const_cast<char*>(entry.c_str()));
        pointers.push_back(nullptr);
        char** before = environ;
        environ = pointers.data();
        const char* found = getenv(name);
        const std::string value = found == nullptr ? "" : found;
        environ = before;
        must(enter::value_of(entries, name) == value, "a value is the one that getenv finds");
    }
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    auto text = fuzz::Input(data, size).text();
    fuzz::check_arguments(fuzz::take_until(text, "\n\n"));
    fuzz::check_environment(text);
    return 0;
}
