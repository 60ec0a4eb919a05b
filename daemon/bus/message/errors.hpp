#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/refusal.hpp"
#include "daemon/app/ports/ports.hpp"
#include "dbus/compat.hpp"

namespace cgpu::bus {

/// `org.cgpu1.Error.Invalid`, …: the complete list is in the XML.
[[nodiscard]] std::string error_name(model::Refusal::Reason reason);

/// The other way round; empty: it is another error.
[[nodiscard]] std::optional<model::Refusal::Reason> reason_of(std::string_view error_name);

[[nodiscard]] sdbus::Error to_bus_error(const model::Refusal& refusal);

/// Logs a fault in `method` and returns org.cgpu1.Error.Internal.
[[nodiscard]] sdbus::Error internal_error(std::string_view method, std::string_view what);

/// The value, or the refusal thrown as a bus error.
template <class T>
T take(app::Result<T> result) {
    if (!result) throw to_bus_error(result.error());
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Runs the body of a method. sdbus-c++ up to 1.4 ends the process if an exception other than sdbus::Error
/// leaves a handler, so all others are converted.
template <class Body>
auto guarded(std::string_view method, Body body) -> decltype(body()) {
    try {
        return body();
    } catch (const sdbus::Error&) {
        throw;
    } catch (const std::exception& error) {
        throw internal_error(method, error.what());
    } catch (...) {
        throw internal_error(method, "an exception of unknown type");
    }
}

}  // namespace cgpu::bus
