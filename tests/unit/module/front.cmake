# The fronts' unit tests: the fronts' own sources, built for paths of a test's own (the link below the working folder), on a
# minimal driver and a minimal daemon. front_mounted tests the shipped files as a whole.
include(${PROJECT_SOURCE_DIR}/module/front/sources.cmake)
include(${PROJECT_SOURCE_DIR}/module/generate/functions.cmake)
set(made ${CMAKE_CURRENT_BINARY_DIR})
set(driver_folder ${made}/front_driver)

# A stand-in for the driver at an absolute path, which is also its SONAME: so the fronts find it by that path. A fourth
# argument names another folder.
function(front_test_driver name file source)
  set(driver_folder ${driver_folder}${ARGN})
  add_library(${name} SHARED ${source})
  set_target_properties(${name} PROPERTIES PREFIX "" NO_SONAME ON SUFFIX .so.1 OUTPUT_NAME ${file}
    LIBRARY_OUTPUT_DIRECTORY ${driver_folder})
  cgpu_never_batch(${name})
  target_link_libraries(${name} PRIVATE cgpu_options)
  target_compile_options(${name} PRIVATE -fvisibility=hidden)
  target_link_options(${name} PRIVATE -Wl,-soname,${driver_folder}/${file}.so.1)
  if(file STREQUAL libcuda)
    target_link_options(${name} PRIVATE -Wl,-Bsymbolic)  # as NVIDIA's
  endif()
endfunction()
front_test_driver(front_test_driver libcuda ${CMAKE_CURRENT_LIST_DIR}/front/support/front_driver.cpp)
target_sources(front_test_driver PRIVATE ${CMAKE_CURRENT_LIST_DIR}/front/support/front_driver_bindings.cpp
                                         ${CMAKE_CURRENT_LIST_DIR}/front/support/front_driver_contexts.cpp
                                         ${CMAKE_CURRENT_LIST_DIR}/front/support/front_driver_compute.cpp
                                         ${CMAKE_CURRENT_LIST_DIR}/front/support/front_driver_lookups.cpp
                                         ${CMAKE_CURRENT_LIST_DIR}/front/support/front_driver_refused.cpp)
front_test_driver(front_test_nvml_driver libnvidia-ml ${CMAKE_CURRENT_LIST_DIR}/front/support/front_nvml_driver.cpp)
front_test_driver(front_test_nvml_long_driver libnvidia-ml ${CMAKE_CURRENT_LIST_DIR}/front/support/front_nvml_driver.cpp
          _long)
foreach(driver front_test_nvml_driver front_test_nvml_long_driver)
  target_sources(${driver} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/front/support/front_nvml_table.cpp)
endforeach()
target_compile_definitions(front_test_nvml_long_driver PRIVATE CGPU_TEST_LONG_ENTRIES)

cgpu_hook_table(${made}/front_hooks.cpp ${PROJECT_SOURCE_DIR}/module/front/hooks/hooks.txt)
cgpu_version_script(${made}/front_cuda.map ${PROJECT_SOURCE_DIR}/module/front/hooks/hooks.txt)
cgpu_version_script(${made}/front_nvml.map ${PROJECT_SOURCE_DIR}/module/front/nvml/nvml_hooks.txt)
set(by_path ${CMAKE_CURRENT_LIST_DIR}/front/support/front_driver_by_path.cpp)
add_library(front_test_cuda SHARED ${CGPU_FRONT_CUDA_SOURCES} ${by_path} ${made}/front_hooks.cpp
          ${made}/front_cuda.map
  ${PROJECT_SOURCE_DIR}/module/generate/hook_table.cpp)
add_library(front_test_nvml SHARED ${CGPU_FRONT_NVML_SOURCES} ${by_path} ${made}/front_nvml.map)
add_library(front_test_nvml_long SHARED ${CGPU_FRONT_NVML_SOURCES} ${by_path} ${made}/front_nvml.map)
foreach(front cuda nvml nvml_long)
  string(REGEX REPLACE "_.*" "" kind ${front})
  string(REPLACE ${kind} "" folder ${front})
  set(file libcuda.so.1)
  if(kind STREQUAL nvml)
    set(file libnvidia-ml.so.1)
  endif()
  set_target_properties(front_test_${front} PROPERTIES NO_SONAME ON)
  cgpu_never_batch(front_test_${front})
  target_compile_definitions(front_test_${front} PRIVATE
    CGPU_LINK_SOCKET="link/socket" CGPU_TEST_REAL_LIBRARY="${driver_folder}${folder}/${file}"
    CGPU_MODULE_FOLDER="${CGPU_TEST_ENGINES}")
  target_compile_options(front_test_${front} PRIVATE -fno-exceptions -fno-rtti -fvisibility=hidden)
  target_link_options(front_test_${front} PRIVATE -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--no-as-needed
    -Wl,--version-script=${made}/front_${kind}.map)
endforeach()
target_link_options(front_test_cuda PRIVATE -Wl,-soname,libcuda.so.1)
target_link_options(front_test_nvml PRIVATE -Wl,-soname,libnvidia-ml.so.1)
target_link_options(front_test_nvml_long PRIVATE -Wl,-soname,libnvidia-ml.so.1)
target_link_libraries(front_test_cuda PRIVATE cgpu_options front_test_driver)
target_link_libraries(front_test_nvml PRIVATE cgpu_options front_test_nvml_driver)
target_link_libraries(front_test_nvml_long PRIVATE cgpu_options front_test_nvml_long_driver)

if(NOT CGPU_SANITIZE)  # it forks processes that have threads, and closes descriptors that aren't its own
  cgpu_unit_test(front_test
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/front/support/front_daemon.cpp ${CMAKE_CURRENT_LIST_DIR}/front/memory/front_graph_test.cpp
            front/lease/front_bindings_test.cpp front/lease/front_gives_test.cpp front/memory/front_memory_test.cpp
            front/memory/front_context_memory_test.cpp front/lease/front_pool_test.cpp
            front/lease/front_range_export_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/front/link/front_link_test.cpp ${CMAKE_CURRENT_LIST_DIR}/front/compute/front_launch_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/front/compute/front_waits_test.cpp
            front/compute/front_launching_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/front/driver/front_jump_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/front/nvml/front_nvml_devices_test.cpp ${CMAKE_CURRENT_LIST_DIR}/front/nvml/front_nvml_memory_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/front/nvml/front_nvml_processes_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/front/nvml/front_nvml_table_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/front/nvml/front_nvml_utilization_test.cpp
    LIBS cgpu_core ${CMAKE_DL_LIBS})
  target_compile_definitions(front_test PRIVATE
    CGPU_TEST_FRONT="$<TARGET_FILE:front_test_cuda>" CGPU_TEST_DRIVER="${driver_folder}/libcuda.so.1"
    CGPU_TEST_NVML_FRONT="$<TARGET_FILE:front_test_nvml>"
              CGPU_TEST_NVML_FRONT_LONG="$<TARGET_FILE:front_test_nvml_long>"
    CGPU_TEST_ENGINE="present.so")
  add_dependencies(front_test front_test_cuda front_test_nvml front_test_nvml_long test_engine_present)
endif()

# Libraries as drivers are linked, and as hardened ones are, which the loader makes unwritable.
foreach(binding lazy now)
  add_library(front_test_reader_${binding} SHARED ${CMAKE_CURRENT_LIST_DIR}/front/driver/variable_reader.c)
  target_link_options(front_test_reader_${binding} PRIVATE -Wl,-z,${binding} -Wl,-z,relro)
endforeach()
cgpu_unit_test(front_devices_test ONE_THREAD
  SOURCES front/driver/visible_devices_test.cpp ${PROJECT_SOURCE_DIR}/module/front/driver/visible_devices.cpp
  LIBS cgpu_core ${CMAKE_DL_LIBS})
target_compile_definitions(front_devices_test PRIVATE CGPU_TEST_LAZY="$<TARGET_FILE:front_test_reader_lazy>"
  CGPU_TEST_NOW="$<TARGET_FILE:front_test_reader_now>")
add_dependencies(front_devices_test front_test_reader_lazy front_test_reader_now)

cgpu_unit_test(front_sections_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/front/swap/front_sections_test.cpp ${CGPU_FRONT_SWAP_SOURCES}
  LIBS cgpu_core ${CMAKE_DL_LIBS})
target_compile_definitions(front_sections_test PRIVATE CGPU_MODULE_FOLDER="${CGPU_TEST_ENGINES}"
  CGPU_PRESENT_VERSION=${CGPU_VERSION_NUMBER}u CGPU_NEXT_VERSION=${CGPU_NEXT_VERSION_NUMBER}u)
add_dependencies(front_sections_test test_engine_present test_engine_next)

# Threads that make contexts and search them, for ThreadSanitizer: the table by itself, and the front.
set(context_table ${PROJECT_SOURCE_DIR}/module/front/contexts/context_table.cpp
                  ${PROJECT_SOURCE_DIR}/module/front/contexts/launch_changes.cpp)
foreach(file clock copy_mark loading waiting)
  list(APPEND context_table ${PROJECT_SOURCE_DIR}/module/front/base/${file}.cpp)
endforeach()
cgpu_unit_test(module_contexts_test SOURCES front/contexts/context_table_test.cpp ${context_table})
cgpu_unit_test(front_contexts_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/front/support/front_daemon.cpp front/contexts/front_contexts_test.cpp
  LIBS cgpu_core ${CMAKE_DL_LIBS})
target_compile_definitions(front_contexts_test PRIVATE
  CGPU_TEST_FRONT="$<TARGET_FILE:front_test_cuda>" CGPU_TEST_DRIVER="${driver_folder}/libcuda.so.1"
  CGPU_TEST_ENGINE="present.so")
add_dependencies(front_contexts_test front_test_cuda test_engine_present)

cgpu_unit_test(front_switch_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/front/support/front_daemon.cpp ${CMAKE_CURRENT_LIST_DIR}/front/swap/front_switch_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/front/swap/front_switch_load_test.cpp
  LIBS cgpu_core ${CMAKE_DL_LIBS})
target_compile_definitions(front_switch_test PRIVATE
  CGPU_TEST_FRONT="$<TARGET_FILE:front_test_cuda>" CGPU_TEST_DRIVER="${driver_folder}/libcuda.so.1"
  CGPU_TEST_ENGINE="present.so" CGPU_TEST_ENGINES="${CGPU_TEST_ENGINES}"
  CGPU_PRESENT_VERSION=${CGPU_VERSION_NUMBER}u CGPU_NEXT_VERSION=${CGPU_NEXT_VERSION_NUMBER}u)
add_library(front_test_loading_library SHARED ${CMAKE_CURRENT_LIST_DIR}/front/swap/loading_library.c)
set_target_properties(front_switch_test PROPERTIES ENABLE_EXPORTS ON)
target_compile_definitions(front_switch_test PRIVATE
  CGPU_TEST_LOADING_LIBRARY="$<TARGET_FILE:front_test_loading_library>")
add_dependencies(front_switch_test front_test_cuda front_test_loading_library ${CGPU_TEST_ENGINE_TARGETS})

# The shipped files, mounted over the simulator's driver.
if(TARGET simgpu AND TARGET cgpu_front_cuda)
  add_executable(front_mounted_test ${CMAKE_CURRENT_LIST_DIR}/front/support/front_daemon.cpp
    ${CMAKE_CURRENT_LIST_DIR}/front/front_mounted_test.cpp)
  target_link_libraries(front_mounted_test PRIVATE cgpu_options cgpu_core GTest::gtest_main ${CMAKE_DL_LIBS})
  target_compile_definitions(front_mounted_test PRIVATE
    CGPU_TEST_FOLDER="/run/cgpu" CGPU_TEST_FRONT="libcuda.so.1" CGPU_TEST_DRIVER="/run/driver/libcuda.so.1"
    CGPU_TEST_ENGINE="${PROJECT_VERSION}/$<TARGET_FILE_NAME:cgpu_engine>" CGPU_TEST_SIMGPU="$<TARGET_FILE:simgpu>")
  add_executable(fit_front ${CMAKE_CURRENT_LIST_DIR}/front/fit_front.cpp)
  target_link_libraries(fit_front PRIVATE cgpu_options cgpu_run)
  add_dependencies(front_mounted_test fit_front simgpu simgpu_cuda simgpu_nvml cgpu_front_cuda cgpu_engine)
  add_test(NAME front_mounted
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/front/front_mounted.sh $<TARGET_FILE:front_mounted_test>
              $<TARGET_FILE_DIR:simgpu>
            $<TARGET_FILE:cgpu_front_cuda> $<TARGET_FILE:cgpu_engine> ${PROJECT_VERSION} $<TARGET_FILE:fit_front>)
  set_tests_properties(front_mounted PROPERTIES LABELS unit SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()
