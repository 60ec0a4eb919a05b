cgpu_unit_test(daemon_lease_test ONE_THREAD
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_property_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/store/lease_file_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_figures_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/kept_exports_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_holds_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_blame_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_escape_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_loads_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_many_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/lease_outside_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/pool/unexplained_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/app/memory/pool/memory_peak_test.cpp
  LIBS cgpu_leases cgpu_lease_file)
