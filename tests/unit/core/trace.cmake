cgpu_unit_test(trace_test ONE_THREAD
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/trace/buffer_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/trace/gpu_watch_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/trace/record_test.cpp
  LIBS schedule_model)
