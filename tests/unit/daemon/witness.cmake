cgpu_unit_test(daemon_witness_test ONE_THREAD
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/app/witness/compute_witness_test.cpp ${CMAKE_CURRENT_LIST_DIR}/app/witness/use_judge_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/gpu/reader/utilization_test.cpp
  LIBS cgpu_app cgpu_log cgpu_nvml_parts)
