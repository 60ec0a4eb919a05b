cgpu_unit_test(core_upgrade_flow_test ONE_THREAD OPTIMIZED
  SOURCES upgrade/mode_ends_test.cpp upgrade/upgrade_flow_test.cpp upgrade/upgrade_objections_test.cpp upgrade/upgrade_property_test.cpp upgrade/upgrade_world.cpp
  LIBS cgpu_core)
