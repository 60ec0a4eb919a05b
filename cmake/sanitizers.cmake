# CGPU_SANITIZE=address|thread: set by the presets asan and tsan. The module is left out of it: it is loaded into
# programs that are not built with a sanitizer.
set(CGPU_SANITIZE "" CACHE STRING "address (with undefined), thread, or empty")
if(CGPU_SANITIZE STREQUAL "address")
  # Tests (CGPU_TEST) are not watched for undefined behaviour themselves: it would double what googletest's macros cost.
  target_compile_options(cgpu_options INTERFACE -fsanitize=address -fno-omit-frame-pointer
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CGPU_TEST>>>:-fsanitize=undefined>
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:CGPU_TEST>>>:-fno-sanitize-recover=undefined>)
  target_link_options(cgpu_options INTERFACE -fsanitize=address,undefined)
elseif(CGPU_SANITIZE STREQUAL "thread")
  target_compile_options(cgpu_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(cgpu_options INTERFACE -fsanitize=thread)
elseif(NOT CGPU_SANITIZE STREQUAL "")
  message(FATAL_ERROR "CGPU_SANITIZE=${CGPU_SANITIZE} is not known. Use address, thread or nothing.")
endif()
if(CGPU_SANITIZE)
  # What is watched needn't be fast, and -O2 would take twice as long to compile.
  target_compile_options(cgpu_options INTERFACE -O1)
endif()
