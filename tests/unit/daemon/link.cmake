cgpu_unit_test(daemon_link_test
  SOURCES ${PROJECT_SOURCE_DIR}/tests/peer/front.cpp ${CMAKE_CURRENT_LIST_DIR}/link/support/link_puppet.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/base/apart_test.cpp ${CMAKE_CURRENT_LIST_DIR}/link/instance/descriptor_budget_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/instance/instance_folder_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/instance/instance_loop_test.cpp ${CMAKE_CURRENT_LIST_DIR}/link/instance/link_members_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/instance/link_driver_test.cpp ${CMAKE_CURRENT_LIST_DIR}/link/instance/link_engines_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/instance/link_hello_test.cpp ${CMAKE_CURRENT_LIST_DIR}/link/instance/link_memory_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/pages/link_pages_test.cpp ${CMAKE_CURRENT_LIST_DIR}/link/instance/link_processes_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/socket/connection_test.cpp ${CMAKE_CURRENT_LIST_DIR}/link/socket/sent_descriptor_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/link/link_restart_test.cpp ${CMAKE_CURRENT_LIST_DIR}/link/told_test.cpp
  LIBS cgpu_link cgpu_lease_file cgpu_system)
