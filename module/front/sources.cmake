# The fronts' sources, for the libraries themselves and for builds of them that tests make.
set(front ${CMAKE_CURRENT_LIST_DIR})
set(CGPU_FRONT_SHARED_SOURCES
  ${front}/connection.cpp ${front}/descriptor.cpp ${front}/pages.cpp ${front}/real_library.cpp ${front}/waiting.cpp
  ${PROJECT_SOURCE_DIR}/core/wire/message.cpp)
# What takes the driver's library from the daemon and exports its functions; tests may have another way to it.
set(CGPU_FRONT_DRIVER_SOURCES ${front}/driver_file.cpp ${front}/stub_address.cpp ${front}/stubs.S)
# Those that know where a front finds the daemon and the engine (paths.hpp): tests build them for other paths.
set(CGPU_FRONT_CUDA_PLACED ${front}/connection.cpp ${front}/engine_file.cpp)
set(CGPU_FRONT_CUDA_PARTS
  ${front}/descriptor.cpp ${front}/pages.cpp ${front}/waiting.cpp ${PROJECT_SOURCE_DIR}/core/wire/message.cpp)
foreach(file array_size captures charge code_table context_count context_table copy_mark engine
        engine_exchange first_launch fork gate gives graph_memory image_size library_cuda library_file link meter physical pool_frees
        pools real_driver real_library sections service session set_aside switcher thread transfer
        array_hooks code_hooks context_hooks copy_batch_hooks copy_hooks graph_hooks info_hooks init_hooks launch_hooks limit_hooks
        managed_memory_hooks memory_hooks memset_hooks physical_hooks pool_hooks proc_address sync_hooks)
  list(APPEND CGPU_FRONT_CUDA_PARTS ${front}/${file}.cpp)
endforeach()
set(CGPU_FRONT_NVML_SOURCES ${CGPU_FRONT_SHARED_SOURCES})
foreach(file library_nvml nvml_memory_hooks nvml_process_hooks nvml_usage observer)
  list(APPEND CGPU_FRONT_NVML_SOURCES ${front}/${file}.cpp)
endforeach()
math(EXPR number "${PROJECT_VERSION_MAJOR} << 16 | ${PROJECT_VERSION_MINOR} << 8 | ${PROJECT_VERSION_PATCH}")
set_source_files_properties(${front}/connection.cpp PROPERTIES COMPILE_DEFINITIONS CGPU_FRONT_VERSION=${number}u)

# The rest is compiled once for all of them.
if(NOT TARGET cgpu_front_parts)
  add_library(cgpu_front_parts OBJECT ${CGPU_FRONT_CUDA_PARTS})
# Hooks of several files are named and declared by the same macros.
cgpu_never_batch(cgpu_front_parts)
  target_link_libraries(cgpu_front_parts PRIVATE cgpu_options)
  target_compile_options(cgpu_front_parts PRIVATE -fno-exceptions -fno-rtti -fno-gnu-unique)
  set_target_properties(cgpu_front_parts PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endif()
set(CGPU_FRONT_CUDA_SOURCES ${CGPU_FRONT_CUDA_PLACED} $<TARGET_OBJECTS:cgpu_front_parts>)
