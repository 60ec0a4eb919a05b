# The compiler flags of the project: all its targets link cgpu_options.
add_library(cgpu_options INTERFACE)
target_include_directories(cgpu_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(cgpu_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align -Wformat=2
  -Wundef -Wimplicit-fallthrough -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wextra-semi>
  -fstack-protector-strong)
