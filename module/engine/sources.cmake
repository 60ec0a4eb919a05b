# The engine's sources, for its library and for the tests that build them plainly; and what its version is as a number
# (each build of them defines it as CGPU_VERSION_NUMBER).
set(CGPU_ENGINE_SOURCES)
foreach(name accounting batches busy_time functions gate gpu_compute handover lock meter meter_measure table window)
  list(APPEND CGPU_ENGINE_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
endforeach()
math(EXPR CGPU_VERSION_NUMBER
     "${PROJECT_VERSION_MAJOR} << 16 | ${PROJECT_VERSION_MINOR} << 8 | ${PROJECT_VERSION_PATCH}")
