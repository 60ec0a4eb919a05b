cgpu_unit_test(daemon_app_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/instances/service_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/instances/service_life_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/instances/service_kept_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/instances/lookup_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/upgrade/mode_differences_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/compute/instance_processes_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/compute/instance_processes_wake_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/upgrade/upgrader_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/compute/bell_sleepers_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/compute/ring_budget_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/compute/slicer_thread_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/compute/gpu_gates_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/compute/bell_wait_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/compute/doorbell_filter_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/compute/gangs_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/log_test.cpp
  LIBS cgpu_app cgpu_log)
cgpu_unit_test(daemon_system_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/system/event_loop_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/log_subject_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/system/cgroup_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/mount_info_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/memory/pid_place_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/system/processes_test.cpp
  LIBS cgpu_system cgpu_leases)
