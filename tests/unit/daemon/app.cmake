cgpu_unit_test(daemon_app_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/service_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/service_life_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/service_kept_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/lookup_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/mode_differences_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/readings_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/readings_wake_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/upgrader_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/bell_sleepers_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/ring_budget_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/slicer_thread_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/gpu_gates_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/bell_wait_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/bells_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/gangs_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/log_test.cpp
  LIBS cgpu_app cgpu_log)
cgpu_unit_test(daemon_system_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/event_loop_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/log_subject_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/mount_info_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/pid_place_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/processes_test.cpp
  LIBS cgpu_system cgpu_leases)
