#include "daemon/bus/message/message_limits.hpp"

#include <systemd/sd-bus.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "daemon/bus/message/errors.hpp"
#include "dbus/caller.hpp"
#include "dbus/names.hpp"

namespace cgpu::bus {
namespace {

/// What a message may still contain. Reading ends when either is used up.
struct Left {
    std::size_t text = MessageLimits::kMostText;
    std::size_t values = MessageLimits::kMostValues;

    bool take(std::size_t bytes) {
        if (values == 0 || bytes > text) return false;
        --values;
        text -= bytes;
        return true;
    }
};

bool is_text(char type) {
    return type == SD_BUS_TYPE_STRING || type == SD_BUS_TYPE_OBJECT_PATH || type == SD_BUS_TYPE_SIGNATURE;
}

bool is_container(char type) {
    return type == SD_BUS_TYPE_ARRAY || type == SD_BUS_TYPE_VARIANT || type == SD_BUS_TYPE_STRUCT ||
           type == SD_BUS_TYPE_DICT_ENTRY;
}

/// Reads to the end of the message or of the container. False: it is too long, or malformed. The depth is
/// bounded by sd-bus (128 containers).
bool read_all(sd_bus_message* message, Left& left) {
    for (;;) {
        char type = 0;
        const char* contents = nullptr;
        const int found = sd_bus_message_peek_type(message, &type, &contents);
        if (found <= 0) return found == 0;
        if (is_container(type)) {
            if (!left.take(0) || sd_bus_message_enter_container(message, type, contents) <= 0 ||
                !read_all(message, left) || sd_bus_message_exit_container(message) < 0)
                return false;
            continue;
        }
        union {
            const char* text;
            std::uint64_t number;
        } value{};
        if (sd_bus_message_read_basic(message, type, &value) <= 0) return false;
        if (!left.take(is_text(type) ? std::strlen(value.text) : 0)) return false;
    }
}

/// sd-bus calls it for each message, before it looks for the method. 1: the message has been answered.
int refuse_if_long(sd_bus_message* message, void*, sd_bus_error*) {
    if (sd_bus_message_is_method_call(message, nullptr, nullptr) <= 0) return 0;
    if (MessageLimits::size_of(message)) return sd_bus_message_rewind(message, 1) < 0 ? 1 : 0;
    const auto text = "the call: it has more than " + std::to_string(MessageLimits::kMostText >> 10) +
                      "KiB of text or " + std::to_string(MessageLimits::kMostValues) +
                      " values, or is malformed. Try: send only values that org.cgpu1 knows.";
    sd_bus_reply_method_errorf(message, error_name(model::Refusal::Reason::invalid).c_str(), "%s",
                               text.c_str());
    return 1;
}

}  // namespace

std::optional<MessageLimits::Size> MessageLimits::size_of(sd_bus_message* message) {
    Left left;
    if (!read_all(message, left)) return std::nullopt;
    return Size{kMostText - left.text, kMostValues - left.values};
}

MessageLimits::MessageLimits(sdbus::IConnection& connection) {
    const auto proxy = sdbus::createProxy(connection, compat::ServiceName(bus_names::kBus),
                                          sdbus::ObjectPath(bus_names::kBusPath));
    const int added = sd_bus_add_filter(compat::bus_of(*proxy), &slot_, refuse_if_long, nullptr);
    if (added < 0)
        throw compat::make_error(bus_names::kFailed,
                                 std::string("a filter of messages: ") + std::strerror(-added));
}

MessageLimits::~MessageLimits() { sd_bus_slot_unref(slot_); }

}  // namespace cgpu::bus
