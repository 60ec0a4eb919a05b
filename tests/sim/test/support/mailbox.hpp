#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <optional>

namespace simgpu::test {

/// Passes file descriptors and small messages between processes that were forked after it was made.
class Mailbox {
  public:
    Mailbox();
    ~Mailbox();
    Mailbox(const Mailbox&) = delete;
    Mailbox& operator=(const Mailbox&) = delete;

    /// The descriptor also stays the caller's. The process ends if it cannot be sent.
    void send_descriptor(int descriptor) const;
    /// Waits for one.
    int receive_descriptor() const;
    /// @return -1 if none is there.
    int receive_descriptor_if_any() const;

    template <typename T>
    void send(const T& message) const {
        send_bytes(&message, sizeof message);
    }
    template <typename T>
    T receive() const {
        T message;
        receive_bytes(&message, sizeof message);
        return message;
    }
    /// Like send() and receive(), without waiting for room or for a message.
    template <typename T>
    bool offer(const T& message) const {
        return offer_bytes(&message, sizeof message);
    }
    template <typename T>
    std::optional<T> receive_if_any() const {
        T message;
        return take_bytes(&message, sizeof message) ? std::optional(message) : std::nullopt;
    }
    bool offer_descriptor(int descriptor) const { return send_with(descriptor, MSG_DONTWAIT); }

    /// What is in it is lost.
    void close();

  private:
    void send_bytes(const void* bytes, std::size_t count) const;
    void receive_bytes(void* bytes, std::size_t count) const;
    bool offer_bytes(const void* bytes, std::size_t count) const;
    bool take_bytes(void* bytes, std::size_t count) const;
    bool send_with(int descriptor, int flags) const;
    int receive_with(int flags) const;
    int ends_[2];
};

}  // namespace simgpu::test
