cgpu_unit_test(daemon_lease_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/lease_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lease_property_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lease_file_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lease_figures_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lease_escape_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lease_outside_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/unexplained_test.cpp
  LIBS cgpu_leases cgpu_lease_file)
