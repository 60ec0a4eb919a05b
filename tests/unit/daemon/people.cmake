cgpu_unit_test(daemon_people_test ONE_THREAD SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/people/people_test.cpp LIBS cgpu_people cgpu_app)
target_compile_definitions(daemon_people_test PRIVATE CGPU_TEST_PEOPLE="$<TARGET_FILE:cgpu-people>")
add_dependencies(daemon_people_test cgpu-people)
