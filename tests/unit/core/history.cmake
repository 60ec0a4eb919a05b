cgpu_unit_test(core_history_test ONE_THREAD
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/history/checksum_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/history/day_sums_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/history/recent_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/history/record_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/history/ring_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/history/totals_test.cpp
  LIBS cgpu_core)
