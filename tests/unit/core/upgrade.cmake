cgpu_unit_test(core_upgrade_test ONE_THREAD SOURCES upgrade/compatible_test.cpp upgrade/roster_test.cpp upgrade/version_test.cpp LIBS cgpu_core)
