# The engine's sources, for its library and for tests that build them directly. Only the file with its table knows its version
# as a number (each build defines CGPU_VERSION_NUMBER), so engines of several versions share the rest.
set(CGPU_ENGINE_PARTS)
foreach(name base/lock compute/batches compute/busy_time compute/estimating compute/launch_gate compute/gpu_compute
             compute/lengths/functions compute/lengths/sampling compute/meter compute/window handover memory/accounting)
  list(APPEND CGPU_ENGINE_PARTS ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
endforeach()
set(CGPU_ENGINE_TABLE ${CMAKE_CURRENT_LIST_DIR}/table.cpp)
set(CGPU_ENGINE_SOURCES ${CGPU_ENGINE_PARTS} ${CGPU_ENGINE_TABLE})
math(EXPR CGPU_VERSION_NUMBER
     "${PROJECT_VERSION_MAJOR} << 16 | ${PROJECT_VERSION_MINOR} << 8 | ${PROJECT_VERSION_PATCH}")
