# Headers of the standard library and of test libraries, compiled once for many files: parsing them is most of what a
# small file costs. Files include what they use all the same; clang-tidy, which knows nothing of this, fails where one
# doesn't.
option(CGPU_PRECOMPILE "Precompile headers that nearly all files include" ON)

# Where <string> is precompiled, GCC warns of what it inlines from there, too, and takes std::string's operator+ for an
# overrun (its bug 105651). A build with -DCGPU_PRECOMPILE=OFF keeps those warnings; ./check builds so on Debian 13.
if(CGPU_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(cgpu_options INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
endif()

set(CGPU_PRECOMPILED_STANDARD <algorithm> <array> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <system_error> <utility> <variant> <vector>)

# cgpu_precompile(OWNER [EXECUTABLE] HEADERS <header>... [OPTIONS option...] [LIBS library...])
# makes the target OWNER, which has these headers precompiled for cgpu_use_precompiled(TARGET OWNER). Targets that use them
# are compiled with the same options and macros (GCC refuses where they are not); EXECUTABLE for executables, which are
# compiled with -fPIE where libraries are with -fPIC.
function(cgpu_precompile owner)
  if(NOT CGPU_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(arg "EXECUTABLE" "" "HEADERS;OPTIONS;LIBS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${owner}.cpp)
  if(arg_EXECUTABLE)
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
    add_executable(${owner} ${source})
  else()
    file(CONFIGURE OUTPUT ${source} CONTENT "\n")
    add_library(${owner} STATIC ${source})
  endif()
  target_link_libraries(${owner} PRIVATE cgpu_options ${arg_LIBS})
  target_compile_options(${owner} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${owner} PRIVATE ${arg_HEADERS})
endfunction()

function(cgpu_use_precompiled target owner)
  if(CGPU_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
