#include "client/cgpuctl/docker/engine/docker_info.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/model/quote.hpp"

namespace cgpu::cgpuctl {
namespace {

using client::Result;
using Json = nlohmann::json;
using Kind = client::ClientError::Kind;

constexpr std::string_view kUnix = "unix://";
constexpr std::size_t kMost = std::size_t{4} << 20;  ///< bytes of an answer
constexpr std::string_view kQuestion =
    "GET /info HTTP/1.0\r\nHost: docker\r\nUser-Agent: cgpuctl\r\nConnection: close\r\n\r\n";

struct Socket {
    int fd = -1;
    Socket() : fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
    ~Socket() {
        if (fd >= 0) close(fd);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
};

bool connect_to(const Socket& socket, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket.fd < 0 || path.size() >= sizeof address.sun_path) return false;
    path.copy(address.sun_path, path.size());
    const timeval limit{5, 0};
    setsockopt(socket.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return connect(socket.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Up to the end of the connection. Empty: it broke off, or took too long.
std::string answer_from(const Socket& socket) {
    if (send(socket.fd, kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(kQuestion.size()))
        return {};
    std::string answer;
    std::array<char, 16384> part{};
    for (;;) {
        const ssize_t count = recv(socket.fd, part.data(), part.size(), 0);
        if (count == 0) return answer;
        if (count < 0 || answer.size() > kMost) return {};
        answer.append(part.data(), static_cast<std::size_t>(count));
    }
}

std::string text_at(const Json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::optional<DockerInfo> read_docker_info(std::string_view json) {
    const Json values = Json::parse(json, nullptr, false);
    if (!values.is_object()) return std::nullopt;
    const auto runtimes = values.find("Runtimes");
    if (runtimes == values.end() || !runtimes->is_object()) return std::nullopt;
    DockerInfo info{{}, text_at(values, "DefaultRuntime")};
    for (const auto& [name, entry] : runtimes->items()) info.runtimes.emplace(name, text_at(entry, "path"));
    return info;
}

std::vector<std::string> docker_sockets(const std::vector<std::string>& hosts) {
    std::vector<std::string> sockets;
    const auto add = [&](std::string path) {
        if (std::ranges::find(sockets, path) == sockets.end()) sockets.push_back(std::move(path));
    };
    for (const std::string& host : hosts)
        if (host.starts_with(kUnix)) add(host.substr(kUnix.size()));
    if (hosts.empty() || std::ranges::any_of(hosts, [](const auto& host) { return host.starts_with("fd:"); }))
        add("/run/docker.sock");
    return sockets;
}

Result<DockerInfo> ask_docker(const std::vector<std::string>& sockets) {
    std::string why = "it listens on no socket of this machine";
    for (const std::string& path : sockets) {
        const Socket socket;
        if (!connect_to(socket, path)) {
            why = model::quote(path) + ": " + std::strerror(errno);
            continue;
        }
        const std::string answer = answer_from(socket);
        const auto body = answer.find("\r\n\r\n");
        if (body != std::string::npos)
            if (auto info = read_docker_info(std::string_view(answer).substr(body + 4)))
                return std::move(*info);
        why = model::quote(path) + ": there was no answer to /info";
    }
    return client::fail(Kind::unreachable, why);
}

std::string to_text(const DockerInfo& info) {
    std::string names;
    for (const auto& [name, path] : info.runtimes)
        names += (names.empty() ? "" : ", ") + model::shell_word(name);
    return "runtimes " + names + "; default " + model::shell_word(info.default_runtime);
}

}  // namespace cgpu::cgpuctl
