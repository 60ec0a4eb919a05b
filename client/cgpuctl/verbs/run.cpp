#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include <unistd.h>

#include "client/cgpuctl/base/random_id.hpp"
#include "client/cgpuctl/output/format.hpp"
#include "client/cgpuctl/queue/shown_wait.hpp"
#include "client/cgpuctl/verbs/run.hpp"
#include "client/run/driver/driver_files.hpp"
#include "client/run/files/inherited.hpp"
#include "client/run/files/root.hpp"
#include "client/run/job/enter_helper.hpp"
#include "client/run/job/granted_environment.hpp"
#include "client/run/job/job_scope.hpp"
#include "client/run/job/job_user.hpp"
#include "client/run/job/run_request.hpp"
#include "client/run/job/start_command.hpp"
#include "client/run/mounts/fronts.hpp"
#include "client/run/mounts/mounts.hpp"
#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::ClientError;
using client::Result;
using Kind = ClientError::Kind;

void print_grant(const client::Created& created, Terminal& terminal) {
    for (const client::Quota& quota : created.quotas)
        terminal.done("GPU " + std::to_string(quota.gpu_index) + " (" + quota.gpu + "): memory " +
                      size_text(quota.memory_limit) + ", weight " + std::to_string(quota.weight) +
                      "; would be granted, nothing was changed.");
}

/// A user who isn't root: the set-uid helper makes the mounts, and the user's own systemd makes the scope.
bool is_user() { return geteuid() != 0; }

ClientError only_root(const std::string& user) {
    return {Kind::not_authorized,
            "--user: only root may run a command as another user. Try: sudo cgpuctl run --user " +
                model::quote(user) + " …."};
}

/// Moves a job out of the login session into a cgroup of its own, if systemd manages the cgroups.
void leave_session(client::Node& node, const std::string& id, const std::string& name, Terminal& terminal) {
    const auto slice = client::slice_for_this_process();
    if (!slice) return;
    client::Scope scope{client::scope_name(id), *slice, "cgpu job " + name};
    if (is_user()) {
        // Only root may ask the system's systemd. This is the slice for programs that users start themselves
        // (systemd.special(7)).
        scope.slice = "app.slice";
        scope.of_user = true;
    }
    const auto entered = node.enter_scope(scope);
    if (!entered) terminal.warning(entered.error().text + ". The job stays in the cgroup of its session.");
}

/// A command that declines management, as a container that does. `why`: what says so.
Result<void> run_unmanaged(const RunInput& input, const std::string& why, Terminal& terminal) {
    terminal.warning(
        "the command isn't managed (" + why +
        "): it has no limit, and cgpud doesn't know of it. Try: --mem 4GiB, without CGPU_DISABLE.");
    if (input.dry_run) return {};
    if (is_user() && !input.user.empty()) return tl::unexpected(only_root(input.user));
    if (!is_user()) {
        const auto user = client::job_user(input.user, client::whole_environment());
        if (!user) return tl::unexpected(user.error());
        if (*user)
            if (auto done = client::become(**user); !done) return done;
    }
    return tl::unexpected(client::start_command(input.command));
}

/// From the granted instance to the running command; returns only an error.
ClientError enter(const RunInput& input, client::Node& node, const std::string& id,
                  const client::Created& created, const std::vector<client::DriverLibrary>& driver,
                  const std::optional<client::JobUser>& user) {
    // The process keeps its pid when it becomes the command.
    if (auto attached = node.attach(id, static_cast<std::uint32_t>(getpid())); !attached)
        return attached.error();
    const auto gpus = node.read_gpus();
    if (!gpus) return gpus.error();
    // Their former values were the request, or named GPUs that the command must not see.
    for (const char* stale : {"ALIYUN_COM_GPU_MEM_CONTAINER", "ALIYUN_COM_GPU_MEM_DEV",
                              "ALIYUN_COM_GPU_MEM_UNIT", "CGPU_RESERVATION"})
        unsetenv(stale);
    for (const auto& [name, value] : client::granted_environment(created.quotas, *gpus))
        setenv(name.c_str(), value.c_str(), 1);
    if (is_user()) return client::become_enter_helper(id, input.command);
    if (auto entered = client::enter_namespace(); !entered) return entered.error();
    const auto root = client::Root::open("/");
    if (!root) return root.error();
    const auto hidden = client::ids_of(driver);
    if (auto done = client::put_fronts_before(driver, created.link_folder, *root); !done) return done.error();
    if (auto done =
            client::settle_inherited(hidden, user ? user->uid : getuid(), user ? user->gid : getgid());
        !done)
        return done.error();
    // Last, because the mounts need root.
    if (user)
        if (auto done = client::become(*user); !done) return done.error();
    return client::start_command(input.command);
}

/// What is covered. For a user, the helper decides that once more, with the same outcome.
Result<std::vector<client::DriverLibrary>> find_driver_of_job(const client::Root& root,
                                                              const client::LoaderEnvironment& environment,
                                                              Terminal& terminal) {
    auto driver = client::find_driver(root, is_user() ? client::LoaderEnvironment{} : environment);
    if (!driver) return tl::unexpected(driver.error());
    if (is_user()) {
        auto copies = client::find_copies(root, environment, driver->libraries, getuid());
        if (!copies) return tl::unexpected(copies.error());
        driver->uncovered = std::move(copies->uncovered);
    }
    for (const std::string& sentence : driver->uncovered) terminal.warning(sentence);
    return std::move(driver->libraries);
}

/// As client::job_user(). A user who isn't root runs commands as that user, if the helper can make the
/// mounts.
Result<std::optional<client::JobUser>> user_of_command(const std::string& asked) {
    if (!is_user()) return client::job_user(asked, client::whole_environment());
    if (!asked.empty()) return tl::unexpected(only_root(asked));
    if (auto helper = client::check_enter_helper(); !helper) return tl::unexpected(helper.error());
    return std::nullopt;
}

}  // namespace

Result<void> run(const RunInput& input, client::Node& node, Terminal& terminal) {
    const auto variables =
        client::request_variables({input.memory, input.weight, input.compute, input.gpus, input.priority,
                                   input.profile, input.wait_for, input.time, input.idle},
                                  client::whole_environment());
    if (!variables) return tl::unexpected(variables.error());
    if (variables->empty()) return run_unmanaged(input, "CGPU_DISABLE, or an amount of 0", terminal);
    const auto user = user_of_command(input.user);
    if (!user) return tl::unexpected(user.error());
    const auto id = random_id();
    if (!id) return tl::unexpected(id.error());
    // Checked before anything is granted: without a driver or a module the command can't run.
    const auto root = client::Root::open("/");
    if (!root) return tl::unexpected(root.error());
    const auto variable = [](const char* name) {
        const char* value = getenv(name);
        return std::string(value != nullptr ? value : "");
    };
    const auto driver =
        find_driver_of_job(*root, {variable("LD_LIBRARY_PATH"), variable("CONDA_PREFIX")}, terminal);
    if (!driver) return tl::unexpected(driver.error());
    const std::string name =
        input.name.empty() ? std::filesystem::path(input.command.front()).filename().native() : input.name;

    std::optional<std::uint32_t> runs_as;
    if (!is_user()) runs_as = *user ? (*user)->uid : getuid();
    const auto waits = input.quiet || input.dry_run ? nullptr : show_wait(*id, *variables, terminal);
    auto created = node.create_instance({*id, name, "", *variables, input.dry_run, runs_as});
    if (waits) waits->end();
    if (!created) return tl::unexpected(created.error());
    if (created->quotas.empty())
        return run_unmanaged(input, "it asks for the default memory, and default_memory is 0 on this node",
                             terminal);
    for (const std::string& warning : created->warnings) terminal.warning(warning);
    if (input.dry_run) {
        print_grant(*created, terminal);
        return {};
    }
    leave_session(node, *id, name, terminal);
    ClientError error = enter(input, node, *id, *created, *driver, *user);
    // The daemon releases the instance in any case when this process has ended; this only releases it sooner.
    // Ordinary users may not release an instance that has a process.
    if (is_user()) return tl::unexpected(std::move(error));
    const auto released = node.release_instance(*id);
    if (!released) terminal.warning(released.error().text);
    return tl::unexpected(std::move(error));
}

}  // namespace cgpu::cgpuctl
