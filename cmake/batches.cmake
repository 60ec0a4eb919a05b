# Files of a target compiled together, a batch at a time (CMake's unity builds): the includes of a small file cost most of its
# compile time. A batch of four tests takes little longer than one of them.
#
# CGPU_BATCHES: tests (tests, the simulator, and the two largest rooms of the product, cgpuctl's and the bus's, each for one program;
# the rest of the product file by file, so that a program has what it needs and no more), all (for trees that are built once: the
# sanitizers'), or none (for daily work, and a line for each file in compile_commands.json).
set(CGPU_BATCHES tests CACHE STRING "What is compiled in batches: none, tests or all")
if(NOT CGPU_BATCHES MATCHES "^(none|tests|all)$")
  message(FATAL_ERROR "CGPU_BATCHES=${CGPU_BATCHES} is not known. Use none, tests or all.")
endif()
if(CGPU_BATCHES STREQUAL "all")
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
else()
  # A batch is compiled again if one of its files has changed.
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 4)
endif()

# cgpu_batch(TARGET...): these are tests, belong to tests, or are libraries of one program that needs all of them.
function(cgpu_batch)
  if(NOT CGPU_BATCHES STREQUAL "none")
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

# cgpu_never_batch(TARGET...): their files exclude each other, for example by C declarations of the same names.
function(cgpu_never_batch)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD OFF)
endfunction()
