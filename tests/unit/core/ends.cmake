cgpu_unit_test(core_ends_test ONE_THREAD SOURCES ends/course_test.cpp ends/duration_test.cpp ends/idle_test.cpp LIBS cgpu_core)
