# A GPU and programs with the module in them, in virtual time, by which the slicer is judged.
add_library(schedule_model STATIC
  ${CMAKE_CURRENT_SOURCE_DIR}/schedule/machine/schedule_gpu.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/schedule/machine/schedule_lies.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/schedule/machine/schedule_process.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/schedule/machine/schedule_world.cpp)
target_link_libraries(schedule_model PUBLIC cgpu_core)
set_target_properties(schedule_model PROPERTIES CGPU_TEST ON)

cgpu_unit_test(schedule_test ONE_THREAD OPTIMIZED LONG_RUNS
  SOURCES
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_charges_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_deadlock_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/parts/schedule_doubt_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/parts/schedule_gang_parts_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_gangs_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_honest_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_liars_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_life_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/parts/schedule_parts_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_policies_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_policy_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_priority_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_property_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_proportional_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_shares_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_step_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/schedule/schedule_turn_end_test.cpp
  LIBS schedule_model)
# Hours of virtual time: worth optimizing with sanitizers, too.
target_compile_options(schedule_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
