find_package(nlohmann_json REQUIRED)
cgpu_unit_test(daemon_store_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/store/state_json_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/store/migrate_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/store/instance_records_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/store/queue_records_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/store/state_damage_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/store/state_file_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/store/history/history_file_test.cpp
  LIBS cgpu_store nlohmann_json::nlohmann_json)
