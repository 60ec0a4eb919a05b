cgpu_unit_test(daemon_gpu_test SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/gpu/memory_limits_test.cpp LIBS cgpu_gpu)
