# The flags of Debian's hardening=+all for the product's programs, so that the package can consist of the files that were
# tested. Included in a block() of variables, because tests and the simulator are built without it: they check the product
# from outside, and some of them run on glibc 2.17.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT CGPU_SANITIZE)
  foreach(language C CXX)
    string(APPEND CMAKE_${language}_FLAGS " -Wdate-time -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2")
  endforeach()
  # The files don't contain the path in which they were built.
  foreach(language C CXX ASM)
    string(APPEND CMAKE_${language}_FLAGS " -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  endforeach()
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -Wl,-z,relro -Wl,-z,now")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,-z,relro -Wl,-z,now")
endif()
