// What the kernel writes into /proc, and the loader's cache. The input is taken as each of these texts. It is
// also taken as a name that another user chose, which is put into a text as the kernel puts it.
#include <cstdio>
#include <vector>

#include "client/run/driver/loader_cache.hpp"
#include "client/run/files/mount_table.hpp"
#include "daemon/system/processes/cgroup.hpp"
#include "daemon/system/processes/mount_info.hpp"
#include "daemon/system/processes/pid_namespaces.hpp"
#include "daemon/system/processes/proc_file.hpp"
#include "tests/fuzz/support/input.hpp"
#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {
namespace {

/// Writes a name as the kernel's seq_escape() writes it.
std::string escaped(std::string_view name, std::string_view these) {
    std::string text;
    for (const char c : name) {
        if (these.find(c) == std::string_view::npos) {
            text += c;
            continue;
        }
        char octal[5];
        std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text += octal;
    }
    return text;
}

/// Takes the input as the name of a program and of a mount point.
void check_name(std::string_view name) {
    if (name.empty() || name.find('\0') != std::string_view::npos) return;
    const auto program = std::string(name.substr(0, 15));
    const auto stat =
        "42 (" + program + ") S 17 42 42 0 -1 4194560 1 0 0 0 3 4 0 0 20 0 1 0 123456 1000 10\n";
    must(system::field_in(stat, 4) == 17U, "no program's name moves its parent");
    must(system::field_in(stat, 22) == 123456U, "no program's name moves its start");
    const auto status = system::parse_pid_status("Name:\t" + escaped(program, "\n\\") +
                                                 "\nUmask:\t0022\nPid:\t42\nPPid:\t17\nNSpid:\t42\t7\n");
    must(status.parent == 17 && status.pids == std::vector<std::int32_t>{42, 7},
         "no program's name changes its place");

    const std::string point = "/" + std::string(name);
    const auto line = "36 35 8:1 / " + escaped(point, " \t\n\\") + " rw shared:7 - ext4 /dev/sda1 rw\n";
    const auto mounts = client::read_mounts(line + "41 35 0:21 / /run rw - tmpfs tmpfs rw\n");
    must(mounts == std::vector<client::Mount>{{36, point, true, false, "8:1", "/"},
                                              {41, "/run", false, false, "0:21", "/"}},
         "a mount is read as the kernel wrote it, whatever its name");
    const auto root = "36 35 0:1 " + escaped(point, " \t\n\\") + " /x rw - ext4 /dev/sda1 rw\n";
    must(client::read_mounts(root) == std::vector<client::Mount>{{36, "/x", false, false, "0:1", point}},
         "what a mount shows is read as the kernel wrote it");
    must(!system::mounts_folder(root, 2, "/run/cgpu/instances/x"), "no name is another device");
}

}  // namespace
}  // namespace cgpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cgpu;
    const auto text = fuzz::Input(data, size).text();
    for (const int field : {3, 4, 20, 22}) static_cast<void>(system::field_in(text, field));
    static_cast<void>(system::parse_pid_status(text));
    static_cast<void>(system::mounts_folder(text, 2049, "/run/cgpu/instances/0123456789ab"));
    const auto cgroup = system::cgroup_made_for(text, "0123456789ab");
    fuzz::must(cgroup.empty() || system::is_in_cgroup(text, cgroup), "a process is in its own cgroup");
    static_cast<void>(client::read_mounts(text));
    for (const auto& path : client::cached_paths(text, "libcuda.so.1"))
        fuzz::must(path.starts_with('/'), "libraries lie at absolute paths");
    fuzz::check_name(text);
    return 0;
}
