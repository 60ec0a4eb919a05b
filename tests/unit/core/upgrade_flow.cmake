cgpu_unit_test(core_upgrade_flow_test
  SOURCES upgrade_flow_test.cpp upgrade_objections_test.cpp upgrade_property_test.cpp upgrade_world.cpp
  LIBS cgpu_core)
