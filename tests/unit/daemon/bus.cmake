set(polkit_header ${CMAKE_CURRENT_BINARY_DIR}/polkit/polkit_adaptor.hpp)
add_custom_command(OUTPUT ${polkit_header}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/polkit
  COMMAND ${SDBUSCPP_XML2CPP} ${CMAKE_CURRENT_SOURCE_DIR}/bus/authority/polkit.xml --adaptor=${polkit_header}
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/bus/authority/polkit.xml VERBATIM)
# A named type of it has members of nameless ones.
set_source_files_properties(bus/authority/mock_polkit.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
cgpu_unit_test(daemon_bus_test ONE_THREAD SOURCES bus/authority/authority_test.cpp bus/calls/call_turns_test.cpp bus/calls/fair_queue_test.cpp bus/calls/handed_out_test.cpp bus/message/changes_test.cpp bus/message/examinations_test.cpp bus/message/examined_test.cpp bus/message/message_limits_test.cpp bus/usage/shared_usage_test.cpp bus/authority/mock_polkit.cpp
          ${polkit_header} LIBS cgpu_bus cgpu_dbus_adaptors)
target_include_directories(daemon_bus_test SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/polkit)
