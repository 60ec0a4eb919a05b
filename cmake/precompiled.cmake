# Headers of the standard library and of test libraries, compiled once for many files: parsing them is most of a small file's
# compile time. Files must include what they use all the same; clang-tidy, which doesn't use this, fails for a missing
# include.
option(CGPU_PRECOMPILE "Precompile headers that nearly all files include" ON)

# If <string> is precompiled, GCC also warns about code that it inlines from there, and mistakes std::string's operator+ for
# an overrun (its bug 105651). A build with -DCGPU_PRECOMPILE=OFF keeps those warnings; ./check builds in this way on Debian
# 13.
if(CGPU_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(cgpu_options INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow)
endif()

set(CGPU_PRECOMPILED_STANDARD <algorithm> <array> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set>
    <span> <string> <string_view> <system_error> <utility> <variant> <vector>)

# cgpu_precompile(OWNER [EXECUTABLE] HEADERS <header>... [OPTIONS option...] [LIBS library...])
# creates the target OWNER, which precompiles these headers for cgpu_use_precompiled(TARGET OWNER). Targets that use them are
# compiled with the same options and macros (GCC refuses otherwise); EXECUTABLE is for executables, which are compiled with
# -fPIE while libraries are compiled with -fPIC.
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
