include_guard(GLOBAL)
add_library(cgpu_events STATIC
  ${CMAKE_CURRENT_LIST_DIR}/doubted_reports.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event.cpp
  ${CMAKE_CURRENT_LIST_DIR}/events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/refused_admissions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/refused_allocations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/refused_calls.cpp
  ${CMAKE_CURRENT_LIST_DIR}/repeated.cpp
  ${CMAKE_CURRENT_LIST_DIR}/repeated_by_user.cpp
  ${CMAKE_CURRENT_LIST_DIR}/setting_events.cpp)
target_link_libraries(cgpu_events PUBLIC cgpu_core cgpu_options PRIVATE cgpu_log)
cgpu_use_precompiled(cgpu_events cgpu_precompiled)
