cgpu_unit_test(daemon_config_test ONE_THREAD
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/config/config_layers_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/config/config_values_test.cpp
          ${CMAKE_CURRENT_SOURCE_DIR}/config/config_yaml_test.cpp ${CMAKE_CURRENT_SOURCE_DIR}/config/limits_test.cpp
  LIBS cgpu_config)
cgpu_unit_test(daemon_configuration_view_test ONE_THREAD SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/configuration_view_test.cpp
  LIBS cgpu_configuration_view)
target_compile_definitions(daemon_config_test PRIVATE
  CGPU_SHIPPED_CONFIG="${CMAKE_CURRENT_SOURCE_DIR}/../../../etc/cgpud.yaml")
