#pragma once

#include <cstddef>

/// The driver of the tests has room for a table of so many words; the table says that it has `bytes`.
constexpr std::size_t kWordsOfTable = 256;

/// int front_test_table(bytes, NVML's version, whether the list of MPS processes is missing): makes the
/// table.
using MakeTable = int(std::size_t, const char*, int);
