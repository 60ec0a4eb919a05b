# The engine's sources, for its library and for the tests that build them plainly.
set(CGPU_ENGINE_SOURCES)
foreach(name accounting batches busy_time functions gate gpu_compute handover lock meter meter_measure table window)
  list(APPEND CGPU_ENGINE_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
endforeach()
math(EXPR CGPU_VERSION_NUMBER
     "${PROJECT_VERSION_MAJOR} << 16 | ${PROJECT_VERSION_MINOR} << 8 | ${PROJECT_VERSION_PATCH}")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/table.cpp PROPERTIES
  COMPILE_DEFINITIONS CGPU_VERSION_NUMBER=${CGPU_VERSION_NUMBER}u)
