cgpu_unit_test(core_request_test ONE_THREAD OPTIMIZED
  SOURCES request/compute_test.cpp request/devices_test.cpp request/wait_test.cpp request/garbage_test.cpp request/memory_share_test.cpp
          request/memory_test.cpp request/messages_test.cpp request/page_test.cpp request/profile_test.cpp request/reservation_test.cpp request/unknown_name_test.cpp
  LIBS cgpu_core)
target_compile_definitions(core_request_test PRIVATE CGPU_TEST_PAGE="${PROJECT_SOURCE_DIR}/docs/requests.md")
