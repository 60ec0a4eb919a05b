#pragma once

#include <concepts>
#include <type_traits>

/// Each value of a view has one list of its members, `fields(on, value)`, with their names in JSON; what
/// writes JSON and what reads it are two kinds of `on`:
///
///   value(name, member)      as it is: a number, a text, a truth, a list or a map of such, or an optional
///   one seconds(name, member)    nanoseconds, in JSON seconds per_cent(name, member)   1..100, in JSON a
///   share of 0..1 by_number(name, member)  a map whose keys are numbers, in JSON text waits(name, member)
///   LaunchWaits one(name, member)        another value with fields; an optional one is null if it is empty
///   list(name, member)       a list of values with fields
///   merge(member)            another value whose fields are here, too
namespace cgpu::view {

/// T or const T.
template <class Of, class T>
concept Is = std::same_as<std::remove_const_t<Of>, T>;

}  // namespace cgpu::view
