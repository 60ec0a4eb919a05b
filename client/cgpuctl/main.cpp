#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "client/cgpuctl/base/command_line.hpp"
#include "client/cgpuctl/completion/complete.hpp"
#include "client/cgpuctl/smi/smi.hpp"
#include "client/node/bus_node.hpp"

namespace cgpu::cgpuctl {
namespace {

int report(const ClientError& error) {
    Terminal(std::cout, std::cerr, {.color_err = wants_color(STDERR_FILENO)}).error(error.text);
    return client::exit_code(error.kind);
}

/// The exit code after everything went well.
int flush() {
    if (std::cout.flush()) return 0;
    return report(
        {ClientError::Kind::failed, "stdout: it can't be written. Try: check whether the disk is full."});
}

int smi_main(const std::vector<std::string>& arguments) {
    Terminal terminal(std::cout, std::cerr,
                      {.color_out = wants_color(STDOUT_FILENO), .color_err = wants_color(STDERR_FILENO)});
    client::BusNode node;
    const auto done = smi::run(arguments, node, terminal, smi::system_clock());
    return done ? flush() : report(done.error());
}

/// Whether the program was called as cgpu-smi, a link to it.
bool is_smi(std::string_view called_as) { return called_as.substr(called_as.rfind('/') + 1) == "cgpu-smi"; }

/// For the shells' completion. What can't be known is left out: an error would be in the way of the user who
/// is typing.
int complete_for_shell(const std::vector<std::string>& arguments) {
    client::BusNode node;
    std::cout << to_lines(complete({arguments.begin() + 1, arguments.end()}, node));
    return 0;
}

int main_of(std::vector<std::string> arguments) {
    if (!arguments.empty() && arguments.front() == "__complete") return complete_for_shell(arguments);
    const auto read = read_command_line(std::move(arguments));
    if (!read) return report(read.error());
    if (const auto* print = std::get_if<Print>(&*read)) {
        std::cout << print->text;
        return 0;
    }
    const Call& call = std::get<Call>(*read);
    Terminal terminal(std::cout, std::cerr,
                      {wants_color(STDOUT_FILENO), wants_color(STDERR_FILENO), call.input->quiet,
                       is_terminal(STDERR_FILENO)});
    client::BusNode node(is_terminal(STDIN_FILENO) && is_terminal(STDERR_FILENO), call.input->host);
    const auto done = call.verb->does.run(*call.input, node, terminal);
    if (!done) return report(done.error());
    return flush();
}

}  // namespace
}  // namespace cgpu::cgpuctl

int main(int argc, char** argv) {
    try {
        std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
        return argc > 0 && cgpu::cgpuctl::is_smi(argv[0]) ? cgpu::cgpuctl::smi_main(arguments)
                                                          : cgpu::cgpuctl::main_of(std::move(arguments));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cgpuctl: %s\n", error.what());
        return 1;
    }
}
