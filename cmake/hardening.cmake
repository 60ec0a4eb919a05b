# What Debian's hardening=+all gives programs, for those of the product: so the package can be made of the very files that
# were tested. Included in a block() of variables, because tests and the simulator are built without it: they check the
# product from outside, and some of them run where nothing newer than glibc 2.17 is.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT CGPU_SANITIZE)
  foreach(language C CXX)
    string(APPEND CMAKE_${language}_FLAGS " -Wdate-time -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2")
    # What is in the files doesn't tell where they were built.
    string(APPEND CMAKE_${language}_FLAGS " -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  endforeach()
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -Wl,-z,relro -Wl,-z,now")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS " -Wl,-z,relro -Wl,-z,now")
endif()
