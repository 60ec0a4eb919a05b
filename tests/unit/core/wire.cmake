cgpu_unit_test(core_wire_test SOURCES wire/limits_test.cpp LIBS cgpu_core)
