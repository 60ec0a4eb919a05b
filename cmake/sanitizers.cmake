# CGPU_SANITIZE=address|thread: set by the presets asan and tsan. The module is built without it, because it is loaded into
# programs that are not built with a sanitizer.
set(CGPU_SANITIZE "" CACHE STRING "address (with undefined, and libFuzzer's targets in tests/fuzz), thread, or empty")
set(product $<NOT:$<BOOL:$<TARGET_PROPERTY:CGPU_TEST>>>)
if(CGPU_SANITIZE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # It has libFuzzer, and compiles googletest's macros in a third of GCC's time.
  message(FATAL_ERROR "CGPU_SANITIZE=${CGPU_SANITIZE} is for clang. Use: cmake --fresh --preset asan (or tsan).")
endif()
if(CGPU_SANITIZE STREQUAL "address")
  # One tree for unit tests, contract tests and fuzz targets, so that the product is compiled once for all of them: with what
  # libFuzzer counts, which costs the tests little; only the targets link its main(). Tests (CGPU_TEST) themselves are not checked
  # for undefined behaviour and not counted: both would double the cost of googletest's macros. The library's own checks find
  # accesses within an allocation.
  # Without two of clang's checks: the module calls NVIDIA's functions by types of its own (function), and vptr opens a pipe to see
  # whether memory can be read, which fails in tests that use up all descriptors.
  target_compile_options(cgpu_options INTERFACE -fsanitize=address -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
    -D__SANITIZE_ADDRESS__=1 # as GCC and newer clangs have it
    $<${product}:-fsanitize=undefined,fuzzer-no-link> $<${product}:-fno-sanitize-recover=undefined>
    $<${product}:-fno-sanitize=function,vptr>)
  target_link_options(cgpu_options INTERFACE -fsanitize=address,undefined)
elseif(CGPU_SANITIZE STREQUAL "thread")
  target_compile_options(cgpu_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer
    -D__SANITIZE_THREAD__=1) # as GCC and newer clangs have it
  target_link_options(cgpu_options INTERFACE -fsanitize=thread)
elseif(NOT CGPU_SANITIZE STREQUAL "")
  message(FATAL_ERROR "CGPU_SANITIZE=${CGPU_SANITIZE} is not known. Use address, thread or nothing.")
endif()
if(CGPU_SANITIZE)
  # In a batch, names of one file's functions hide those of another file's namespace.
  target_compile_options(cgpu_options INTERFACE -Wno-shadow)
endif()
