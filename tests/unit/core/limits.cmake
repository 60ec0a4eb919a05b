cgpu_unit_test(core_limits_test ONE_THREAD SOURCES limits/allowance_test.cpp limits/rules_test.cpp LIBS cgpu_core)
