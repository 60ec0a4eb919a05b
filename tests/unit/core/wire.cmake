cgpu_unit_test(core_wire_test ONE_THREAD SOURCES wire/limits_test.cpp LIBS cgpu_core)
