#pragma once

#include <array>
#include <string_view>

#include "core/elf/symbols.hpp"
#include "files/descriptor.hpp"

namespace cgpu::client {

/// The machines whose programs the kernel executes, as bits.
constexpr unsigned k64Bit = 1;
constexpr unsigned k32Bit = 2;

/// A kind of the driver's libraries.
struct LibraryKind {
    const char* base;   ///< libcuda.so; a file's name is that alone, or with a version
    unsigned machines;  ///< bits
    bool hidden;        ///< see DriverLibrary

    [[nodiscard]] bool is_named(std::string_view file) const;
};

/// For each base there is a kind for each machine.
constexpr std::array<LibraryKind, 5> kLibraryKinds = {{{"libcuda.so", k64Bit, false},
                                                       {"libnvidia-ml.so", k64Bit, false},
                                                       {"libnvidia-opencl.so", k64Bit | k32Bit, true},
                                                       {"libcuda.so", k32Bit, true},
                                                       {"libnvidia-ml.so", k32Bit, true}}};

/// Whether a file's name (without its folder) is that of one of the driver's libraries. That alone says
/// nothing of the file: anybody can give a name to a link.
[[nodiscard]] bool has_drivers_name(std::string_view file);

/// The machine (a bit) for which an open file is one of the driver's libraries, by what it says of itself: a
/// shared library of ELF with the driver's SONAME. 0: it is none. `file` is open for reading.
[[nodiscard]] unsigned machine_of_driver(const Descriptor& file);

/// Reads an open file, which must outlive the reader.
[[nodiscard]] elf::ReadAt reader_of(const Descriptor& file);

}  // namespace cgpu::client
