# Shared libraries that load on glibc 2.17 or newer, whatever this machine has.
#
#   cgpu_portable_library(NAME
#     SOURCES file...             C++, C or assembly
#     SONAME libcuda.so.1         absent: none
#     OUTPUT libcgpu-cuda.so      name of the file; it lies in the current binary folder
#     VERSION_SCRIPT exports.map  what is exported; everything else stays local
#     [LINK item...]              more to link (object libraries, flags)
#     [UNLOADABLE])               dlclose unmaps it (no thread_local objects, nothing registered at exit)
#
# makes the target NAME and the test module.portable.NAME, which checks the file that was built.

if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  message(FATAL_ERROR "The module can't be built for ${CMAKE_SYSTEM_PROCESSOR}: there is no list of its glibc 2.17 "
                      "symbols yet. Try: -DCGPU_MODULE=OFF for the rest, or add "
                      "module/portable/glibc-2.17.${CMAKE_SYSTEM_PROCESSOR}.symbols.")
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(CGPU_PORTABLE_FOLDER ${CMAKE_CURRENT_LIST_DIR})
set(CGPU_PORTABLE_SYMBOLS ${CGPU_PORTABLE_FOLDER}/glibc-2.17.x86_64.symbols)
set(CGPU_PORTABLE_STUBS ${CMAKE_BINARY_DIR}/module/portable/stubs)
set(cgpu_stub_libraries ${CGPU_PORTABLE_STUBS}/libpthread.so.0 ${CGPU_PORTABLE_STUBS}/libdl.so.2
    ${CGPU_PORTABLE_STUBS}/libm.so.6 ${CGPU_PORTABLE_STUBS}/libc.so.6 ${CGPU_PORTABLE_STUBS}/ld-linux-x86-64.so.2)

add_custom_command(OUTPUT ${cgpu_stub_libraries}
  COMMAND Python3::Interpreter -B ${CGPU_PORTABLE_FOLDER}/make_stubs.py ${CGPU_PORTABLE_SYMBOLS} ${CGPU_PORTABLE_STUBS}
          ${CMAKE_C_COMPILER}
  DEPENDS ${CGPU_PORTABLE_FOLDER}/make_stubs.py ${CGPU_PORTABLE_SYMBOLS}
  COMMENT "Stub libraries of glibc 2.17" VERBATIM)
add_custom_target(cgpu_portable_stubs DEPENDS ${cgpu_stub_libraries})

# Defines names that libc's headers declare with attributes of their own, so it is compiled without the project's warnings.
add_library(cgpu_portable_compat STATIC ${CGPU_PORTABLE_FOLDER}/compat.c ${CGPU_PORTABLE_FOLDER}/newer.c)
target_compile_options(cgpu_portable_compat PRIVATE -O2 -fvisibility=hidden -Wall -Wextra -fno-builtin)

# The archives that the compiler would link by default, named here because -nodefaultlibs removes them.
function(cgpu_compiler_archive variable name)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${name}
                  OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT IS_ABSOLUTE "${path}")
    message(FATAL_ERROR "The compiler has no ${name}. Try: install libstdc++-dev and libc6-dev of its version.")
  endif()
  set(${variable} ${path} PARENT_SCOPE)
endfunction()
cgpu_compiler_archive(CGPU_LIBSTDCXX libstdc++.a)
cgpu_compiler_archive(CGPU_LIBGCC_EH libgcc_eh.a)
cgpu_compiler_archive(CGPU_LIBGCC libgcc.a)
cgpu_compiler_archive(CGPU_LIBC_NONSHARED libc_nonshared.a)

function(cgpu_portable_library name)
  cmake_parse_arguments(arg "UNLOADABLE" "SONAME;OUTPUT;VERSION_SCRIPT" "SOURCES;LINK" ${ARGN})
  foreach(required OUTPUT VERSION_SCRIPT SOURCES)
    if(NOT arg_${required})
      message(FATAL_ERROR "cgpu_portable_library(${name}): ${required} is missing")
    endif()
  endforeach()

  # The script is among the sources so that one made at build time is made.
  add_library(${name} SHARED ${arg_SOURCES} ${arg_VERSION_SCRIPT})
  add_dependencies(${name} cgpu_portable_stubs cgpu_portable_compat)
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME ${arg_OUTPUT} NO_SONAME ON SKIP_BUILD_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
    LINKER_LANGUAGE CXX
    LINK_DEPENDS ${arg_VERSION_SCRIPT}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE
    -nodefaultlibs -Wl,-z,defs -Wl,-z,now -Wl,-z,relro -Wl,-Bsymbolic -Wl,--exclude-libs,ALL
    -Wl,--version-script=${arg_VERSION_SCRIPT})
  if(NOT arg_UNLOADABLE)
    target_link_options(${name} PRIVATE -Wl,-z,nodelete)
  endif()
  if(arg_SONAME)
    target_link_options(${name} PRIVATE -Wl,-soname,${arg_SONAME})
  endif()

  # One string: CMake would drop and reorder the repeated switches of a list.
  string(JOIN " " system -Wl,--as-needed ${CGPU_LIBSTDCXX} ${CGPU_LIBGCC_EH} ${CGPU_LIBGCC}
         $<TARGET_FILE:cgpu_portable_compat> ${cgpu_stub_libraries} ${CGPU_LIBC_NONSHARED})
  target_link_libraries(${name} PRIVATE cgpu_options ${arg_LINK} "${system}")

  if(CGPU_TESTS)
    add_test(NAME module.portable.${name}
      COMMAND Python3::Interpreter -B ${CGPU_PORTABLE_FOLDER}/check_portable.py $<TARGET_FILE:${name}>
              --symbols ${CGPU_PORTABLE_SYMBOLS} --version-script ${arg_VERSION_SCRIPT})
    set_tests_properties(module.portable.${name} PROPERTIES LABELS unit)
  endif()
endfunction()
