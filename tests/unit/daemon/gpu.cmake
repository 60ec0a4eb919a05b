cgpu_unit_test(daemon_gpu_test ONE_THREAD
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/gpu/driver_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/gpu/messages/messages_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/gpu/reader/memory_limits_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/gpu/reader_process_test.cpp
  LIBS cgpu_gpu cgpu_nvml_parts cgpu_app)
