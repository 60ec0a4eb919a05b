#pragma once

#include <string>

#include <tl/expected.hpp>

namespace cgpu::client {

/// Why a verb failed.
struct ClientError {
    enum class Kind {
        failed,          ///< none of the below: a fault
        usage,           ///< wrong usage of the command line
        not_found,       ///< no such GPU or instance
        refused,         ///< the daemon refused it
        try_again,       ///< an instance that holds the resources is just ending
        not_authorized,  ///< the caller may not
        unreachable,     ///< no daemon answers
        no_command,      ///< run: the command does not exist
        bad_command,     ///< run: the command exists and can't be executed
    };
    Kind kind = Kind::failed;
    std::string text;         ///< `what: why. Try: …`
    std::string reason = {};  ///< cgpud's, by the end of the bus error's name (`NoSpace`); empty: not cgpud's
};

template <class T>
using Result = tl::expected<T, ClientError>;

/// The exit code of cgpuctl. 126 and 127 are those of a shell for a command that it can't run.
[[nodiscard]] constexpr int exit_code(ClientError::Kind kind) {
    switch (kind) {
        case ClientError::Kind::failed:
            return 1;
        case ClientError::Kind::usage:
            return 2;
        case ClientError::Kind::not_found:
            return 3;
        case ClientError::Kind::refused:
        case ClientError::Kind::try_again:
            return 4;
        case ClientError::Kind::not_authorized:
            return 77;
        case ClientError::Kind::unreachable:
            return 101;
        case ClientError::Kind::bad_command:
            return 126;
        case ClientError::Kind::no_command:
            return 127;
    }
    return 1;
}

[[nodiscard]] inline tl::unexpected<ClientError> fail(ClientError::Kind kind, std::string text) {
    return tl::unexpected(ClientError{kind, std::move(text)});
}

}  // namespace cgpu::client
