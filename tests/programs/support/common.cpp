#include "tests/programs/support/common.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

/// kernels.S
extern "C" const char programs_kernels[];

namespace programs {

namespace {

int stop_signals = -1;

bool stdin_is_a_pipe() {
    struct stat status {};
    return fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

std::string result_name(CUresult result) {
    const char* name = nullptr;
    cuGetErrorName(result, &name);
    return name ? name : "unknown";
}

void must(CUresult result, const char* call) {
    if (result == CUDA_SUCCESS) return;
    say("error", std::string(call) + " " + std::to_string(result) + " " + result_name(result));
    std::exit(1);
}

CUcontext use_device(int device) {
    must(cuInit(0), "cuInit");
    CUcontext context = nullptr;
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    return context;
}

CUfunction kernel(const char* name) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    must(cuModuleLoadData(&module, programs_kernels), "cuModuleLoadData");
    must(cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
    return function;
}

void take_stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    stop_signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool should_stop() {
    pollfd item{stop_signals, POLLIN, 0};
    return poll(&item, 1, 0) > 0;
}

void hold() {
    std::puts("ready");
    std::fflush(stdout);
    pollfd items[2] = {{stop_signals, POLLIN, 0}, {stdin_is_a_pipe() ? STDIN_FILENO : -1, POLLIN, 0}};
    while (true) {
        if (poll(items, 2, -1) < 0) continue;
        if (items[0].revents) return;
        char byte = 0;
        if (items[1].revents && read(STDIN_FILENO, &byte, 1) <= 0) return;
    }
}

void say(const std::string& key, const std::string& value) {
    std::printf("%s %s\n", key.c_str(), value.c_str());
    std::fflush(stdout);
}

void say(const std::string& key, unsigned long long value) { say(key, std::to_string(value)); }

}  // namespace programs
