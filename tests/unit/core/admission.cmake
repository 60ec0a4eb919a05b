cgpu_unit_test(core_admission_test ONE_THREAD
  SOURCES admission/admit_memory_test.cpp admission/admit_property_test.cpp admission/admit_weight_test.cpp
          admission/kept_test.cpp admission/mode_test.cpp admission/placement_test.cpp
  LIBS cgpu_core)
