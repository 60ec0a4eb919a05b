# The fronts' sources, for the libraries themselves and for builds of them that tests make.
set(front ${CMAKE_CURRENT_LIST_DIR})
set(message ${PROJECT_SOURCE_DIR}/core/wire/message.cpp)

# cgpu_front_files(VARIABLE ROOM FILE...): appends files of a room, named without their suffix.
function(cgpu_front_files variable room)
  list(TRANSFORM ARGN PREPEND ${front}/${room}/ OUTPUT_VARIABLE files)
  list(TRANSFORM files APPEND .cpp)
  set(${variable} ${${variable}} ${files} PARENT_SCOPE)
endfunction()

# Gets the driver's library from the daemon and exports its functions; tests may have another way to it.
set(CGPU_FRONT_DRIVER_SOURCES ${front}/link/driver_file.cpp ${front}/link/undumpable.cpp ${front}/driver/stub_address.cpp ${front}/driver/stubs.S)
# Files that contain the paths of the daemon and the engine (base/paths.hpp): tests build them for other paths.
set(CGPU_FRONT_CUDA_PLACED ${front}/link/connection.cpp ${front}/swap/engine_file.cpp)
set(CGPU_FRONT_CUDA_PARTS ${message})
cgpu_front_files(CGPU_FRONT_CUDA_PARTS base clock copy_mark descriptor errands loading thread waiting)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS driver captures context_scope library_cuda real_driver real_library relaxed_capture
                 stream_key visible_devices)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS link link mapped_pages unreachable)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS swap engine library_file sections)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS session session)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS contexts context_batches context_table event_pool launch_changes)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS sizes array_size code_table image_size resident_threads)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS lease bindings freeing gives physical pool_frees pools reserve shared_memory)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS memory context_count current_context graph_memory local_memory place set_aside)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS compute batch first_launch gate reap thread_grant transfer)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS process fork service_thread start switcher)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS hooks array_hooks capture_hooks code_hooks context_hooks graph_hooks
                 info_hooks init_hooks launch_hooks limit_hooks memory_hooks multicast_hooks
                 physical_hooks pool_hooks proc_address refused_hooks shared_hooks sync_hooks)
cgpu_front_files(CGPU_FRONT_CUDA_PARTS hooks/transfers attributed_hooks copy_batch_hooks copy_hooks decompress_hooks memset_hooks
                 peer_copy_hooks)

set(CGPU_FRONT_NVML_SOURCES ${message})
cgpu_front_files(CGPU_FRONT_NVML_SOURCES base clock descriptor loading waiting)
cgpu_front_files(CGPU_FRONT_NVML_SOURCES driver real_library)
cgpu_front_files(CGPU_FRONT_NVML_SOURCES link connection mapped_pages unreachable)
cgpu_front_files(CGPU_FRONT_NVML_SOURCES nvml library_nvml nvml_device_hooks nvml_usage_hooks nvml_process_hooks nvml_table_hook
                 nvml_usage observer)
math(EXPR number "${PROJECT_VERSION_MAJOR} << 16 | ${PROJECT_VERSION_MINOR} << 8 | ${PROJECT_VERSION_PATCH}")
set_source_files_properties(${front}/link/connection.cpp PROPERTIES COMPILE_DEFINITIONS CGPU_FRONT_VERSION=${number}u)

# The exchange of engines, for programs that are not a front.
set(CGPU_FRONT_SWAP_SOURCES)
cgpu_front_files(CGPU_FRONT_SWAP_SOURCES swap engine engine_file library_file sections)
cgpu_front_files(CGPU_FRONT_SWAP_SOURCES base clock loading waiting)

# The rest is compiled once for all of them.
if(NOT TARGET cgpu_front_parts)
  add_library(cgpu_front_parts OBJECT ${CGPU_FRONT_CUDA_PARTS})
  # Hooks of several files are named and declared by the same macros.
  cgpu_never_batch(cgpu_front_parts)
  target_link_libraries(cgpu_front_parts PRIVATE cgpu_options)
  target_compile_options(cgpu_front_parts PRIVATE -fno-exceptions -fno-rtti $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  set_target_properties(cgpu_front_parts PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endif()
set(CGPU_FRONT_CUDA_SOURCES ${CGPU_FRONT_CUDA_PLACED} $<TARGET_OBJECTS:cgpu_front_parts>)
