include_guard(GLOBAL)
add_library(cgpu_leases STATIC
  ${CMAKE_CURRENT_LIST_DIR}/context_estimate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/context_sizes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/escape_judge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/escapes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kept_exports.cpp
  ${CMAKE_CURRENT_LIST_DIR}/nvml_poller.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pool/lease_pool.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pool/unsized_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lease_figures.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lease_pools.cpp
  ${CMAKE_CURRENT_LIST_DIR}/leases.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../ports/pid_place.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recall_queue.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pool/unexplained.cpp)
target_link_libraries(cgpu_leases PUBLIC cgpu_events cgpu_core cgpu_options PRIVATE cgpu_log)

add_library(cgpu_lease_file STATIC
  ${CMAKE_CURRENT_LIST_DIR}/../../store/lease_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../store/lease_record.cpp)
target_link_libraries(cgpu_lease_file PUBLIC cgpu_core cgpu_files cgpu_options)
cgpu_use_precompiled(cgpu_leases cgpu_precompiled)
cgpu_use_precompiled(cgpu_lease_file cgpu_precompiled)
