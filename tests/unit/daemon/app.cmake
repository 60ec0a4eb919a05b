cgpu_unit_test(daemon_app_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/process_facts_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/service_gpus_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/service_log_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/service_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/service_life_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/service_rename_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/queue/reservations_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/service_ends_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/service_kept_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/node_changes_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/instances/unmanaged_containers_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/looks/second_looks_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/ports/lookup_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/events/events_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/events/repeated_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/events/setting_events_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/limits/owner_limits_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/upgrade/mode_differences_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/instance_processes_back_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/instance_processes_use_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/gpu_gates_use_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/instance_processes_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/instance_processes_wake_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/queue/admission_queue_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/queue/queue_property_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/queue/queue_restart_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/upgrade/mode_switch_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/upgrade/upgrader_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/history/accounting_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/history/history_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/drivers/newer_functions_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/doorbell_sleepers_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/ring_budget_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/slicer_thread_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/gpu_gates_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/doorbell_wait_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/doorbell_filter_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/gpu_gates_trace_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/trace/traces_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/ends/ends_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/ends/idle_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/stops/stops_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/app/compute/gangs_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/log/log_test.cpp
  LIBS cgpu_app cgpu_log)
cgpu_unit_test(daemon_system_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/system/event_loop_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/log/event_log_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/system/processes/cgroup_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/processes/cut_off_watch_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/processes/mount_info_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/processes/proc_file_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/app/ports/pid_place_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/system/processes/mount_search_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/system/processes/processes_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/processes/process_look_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/system/memory_trim_test.cpp
  LIBS cgpu_system cgpu_leases)
target_compile_definitions(daemon_system_test PRIVATE CGPU_SOURCE="${PROJECT_SOURCE_DIR}")
