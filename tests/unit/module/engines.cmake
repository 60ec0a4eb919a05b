# Engines to change to: files of their own in one folder, as on a node. Valid ones are built directly, so that the sanitizers
# see them.
set(CGPU_TEST_ENGINES ${CMAKE_CURRENT_BINARY_DIR}/engines)
math(EXPR CGPU_NEXT_VERSION_NUMBER "${CGPU_VERSION_NUMBER} + 1")

# Compiled once for all engines that are made of this version's sources.
add_library(test_engine_parts OBJECT ${CGPU_ENGINE_PARTS})
target_link_libraries(test_engine_parts PRIVATE cgpu_options)
target_compile_options(test_engine_parts PRIVATE -fvisibility=hidden $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
cgpu_never_batch(test_engine_parts)

# test_engine(NAME VERSION PARTS...): engines/NAME.so, which declares VERSION.
function(test_engine name version)
  add_library(test_engine_${name} SHARED ${CGPU_ENGINE_TABLE} ${ARGN})
  set_target_properties(test_engine_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${CGPU_TEST_ENGINES})
  target_link_libraries(test_engine_${name} PRIVATE cgpu_options)
  target_compile_definitions(test_engine_${name} PRIVATE CGPU_VERSION_NUMBER=${version}u)
  target_compile_options(test_engine_${name} PRIVATE -fvisibility=hidden $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(test_engine_${name} PRIVATE -Wl,-Bsymbolic
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/module/engine/exports.map)
  if(NOT CGPU_SANITIZE)  # containers of the lab have no C++ library
    target_link_options(test_engine_${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
test_engine(present ${CGPU_VERSION_NUMBER} $<TARGET_OBJECTS:test_engine_parts>)
# Of the next version, with another internal layout: see next_engine.cpp. Its headers come before this version's.
test_engine(next ${CGPU_NEXT_VERSION_NUMBER} ${CGPU_ENGINE_PARTS} ${CMAKE_CURRENT_LIST_DIR}/next_engine/next_engine.cpp)
cgpu_never_batch(test_engine_next)
target_include_directories(test_engine_next BEFORE PRIVATE ${CMAKE_CURRENT_LIST_DIR}/next_engine)
target_compile_definitions(test_engine_next PRIVATE cgpu_engine_table=plain_engine_table)

# Engines with one fault each: see engine/broken_engine.cpp.
set(CGPU_BROKEN_ENGINES other_abi short_table failing_restore other_charge other_lease no_engine)
foreach(kind ${CGPU_BROKEN_ENGINES})
  test_engine(${kind} ${CGPU_NEXT_VERSION_NUMBER} ${CMAKE_CURRENT_LIST_DIR}/engine/broken_engine.cpp
    $<TARGET_OBJECTS:test_engine_parts>)
  target_compile_definitions(test_engine_${kind} PRIVATE cgpu_engine_table=whole_engine_table CGPU_BROKEN_${kind})
endforeach()
# Of the next version without any other change, for measurements.
test_engine(twin ${CGPU_NEXT_VERSION_NUMBER} $<TARGET_OBJECTS:test_engine_parts>)
list(TRANSFORM CGPU_BROKEN_ENGINES PREPEND test_engine_ OUTPUT_VARIABLE CGPU_TEST_ENGINE_TARGETS)
list(APPEND CGPU_TEST_ENGINE_TARGETS test_engine_present test_engine_next test_engine_twin)
