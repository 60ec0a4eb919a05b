#pragma once

#include <array>
#include <optional>

#include "module/front/link/connection.hpp"
#include "module/front/link/mapped_pages.hpp"

namespace cgpu::front {

/// The observer's connection: made at first use, and again if it was lost. Each call blocks until `until_ns`
/// at most. One question at a time.
class Observer {
  public:
    constexpr Observer() = default;

    bool connect(std::int64_t until_ns);
    void disconnect() { socket_.close(); }

    // While connected.
    [[nodiscard]] const wire::Orders& orders() const { return *pages_.orders(); }
    /// The index of one of the instance's GPUs.
    [[nodiscard]] std::optional<std::uint32_t> find(const std::array<std::uint8_t, 16>& uuid) const;
    /// The answer to a question, whose header is filled in here. Empty: the connection can't be used.
    template <class Answer, class Question>
    std::optional<Answer> ask(Question question, std::int64_t until_ns) {
        question.header.request = ++request_;
        if (send_message(socket_, question) != Sent::done) return std::nullopt;
        Packet packet;
        while (next_packet(packet, until_ns)) {
            const auto answer = wire::read_message<Answer>(packet.data());
            if (answer && answer->header.request == request_) return answer;
        }
        return std::nullopt;
    }

  private:
    /// False: none came, or the connection is lost.
    bool next_packet(Packet& packet, std::int64_t until_ns);

    Descriptor socket_;
    MappedPages pages_;
    std::uint64_t request_ = 0;
};

}  // namespace cgpu::front
