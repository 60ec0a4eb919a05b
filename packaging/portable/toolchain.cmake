# Debian 12's compiler for a Debian 11: headers, C library and startup files of the sysroot, all else linked statically.
# CGPU_PORTABLE (a variable of the environment, because CMake reads this file anew for each of its trials): the folder that sysroot.sh
# and libraries.sh have filled.
set(CGPU_PORTABLE $ENV{CGPU_PORTABLE})
if(NOT EXISTS ${CGPU_PORTABLE}/sysroot/made-of)
  message(FATAL_ERROR "There is no sysroot in CGPU_PORTABLE=${CGPU_PORTABLE}. Try: packaging/portable/build")
endif()
set(CMAKE_SYSROOT ${CGPU_PORTABLE}/sysroot)
set(old ${CMAKE_SYSROOT}/usr/lib/x86_64-linux-gnu)
set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)

foreach(language C CXX)
  # -B: otherwise Debian's gcc takes the machine's own crt1.o and libc.so in spite of the sysroot. Each function in a section of its
  # own, so that a program has of a static library what it needs.
  set(CMAKE_${language}_FLAGS_INIT "-B${old} -ffunction-sections -fdata-sections")
endforeach()
set(link "-static-libstdc++ -static-libgcc -pthread -L${old} -Wl,--as-needed,--gc-sections,-z,relro,-z,now")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${link}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${link}")
set(CMAKE_MODULE_LINKER_FLAGS_INIT "${link}")
# newer.o: what this compiler's own libraries take from a newer glibc. -ldl and -lrt: parts of libc from 2.34 on.
foreach(language C CXX)
  set(CMAKE_${language}_STANDARD_LIBRARIES "${CGPU_PORTABLE}/newer.o -ldl -lrt")
endforeach()

set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)
set(CMAKE_SKIP_RPATH ON)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${old}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
