# CGPU_SANITIZE=address|thread|fuzzer: set by the presets asan, tsan and fuzz. The module is built without it, because it is
# loaded into programs that are not built with a sanitizer.
set(CGPU_SANITIZE "" CACHE STRING "address (with undefined), thread, fuzzer (with both, for tests/fuzz), or empty")
if(CGPU_SANITIZE STREQUAL "address")
  # Tests (CGPU_TEST) themselves are not checked for undefined behaviour: it would double the cost of googletest's macros.
  target_compile_options(cgpu_options INTERFACE -fsanitize=address -fno-omit-frame-pointer
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CGPU_TEST>>>:-fsanitize=undefined>
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CGPU_TEST>>>:-fno-sanitize-recover=undefined>)
  target_link_options(cgpu_options INTERFACE -fsanitize=address,undefined)
elseif(CGPU_SANITIZE STREQUAL "thread")
  target_compile_options(cgpu_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(cgpu_options INTERFACE -fsanitize=thread)
elseif(CGPU_SANITIZE STREQUAL "fuzzer")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CGPU_SANITIZE=fuzzer is for clang, which has libFuzzer. Use: cmake --preset fuzz.")
  endif()
  # Only the targets link libFuzzer's main() (tests/fuzz). The library's own checks find accesses within an allocation.
  target_compile_options(cgpu_options INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined -D_GLIBCXX_ASSERTIONS)
  target_link_options(cgpu_options INTERFACE -fsanitize=address,undefined)
elseif(NOT CGPU_SANITIZE STREQUAL "")
  message(FATAL_ERROR "CGPU_SANITIZE=${CGPU_SANITIZE} is not known. Use address, thread, fuzzer or nothing.")
endif()
if(CGPU_SANITIZE)
  # Speed doesn't matter here, and -O2 would take twice as long to compile.
  target_compile_options(cgpu_options INTERFACE -O1)
  # Code that a sanitizer inserts between the test and the use of an optional makes GCC warn that its value may not be set.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(cgpu_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
