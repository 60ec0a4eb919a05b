# check_portable.py must find faults: each of these files has one, and the test passes if it is named.
set(portable_folder ${PROJECT_SOURCE_DIR}/module/portable)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sample.map "{\n global: cuOne; cuTwo;\n local: *;\n};\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sample_all.map "{\n global: cu*; cuMissing;\n local: *;\n};\n")

function(cgpu_portable_fault name library script fault)
  add_test(NAME module.portable.finds_${name}
    COMMAND Python3::Interpreter -B ${portable_folder}/check_portable.py $<TARGET_FILE:${library}>
            --symbols ${portable_folder}/glibc-2.17.x86_64.symbols --version-script ${CMAKE_CURRENT_BINARY_DIR}/${script})
  set_tests_properties(module.portable.finds_${name} PROPERTIES LABELS unit PASS_REGULAR_EXPRESSION ${fault})
endfunction()
find_package(Python3 REQUIRED COMPONENTS Interpreter)

cgpu_portable_fault(leaks module_sample_library sample.map "leaks cuThree")
cgpu_portable_fault(missing_exports module_sample_library sample_all.map "exports no cuMissing")

# A symbol newer than glibc 2.17, in a library that is linked as usual.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/too_new.c
     "#define _GNU_SOURCE\n#include <stdlib.h>\nunsigned cuOne(void);\nunsigned cuOne(void) { return arc4random(); }\n")
add_library(module_too_new SHARED ${CMAKE_CURRENT_BINARY_DIR}/too_new.c)
cgpu_portable_fault(new_symbols module_too_new sample_all.map "takes arc4random@GLIBC_2.36 from libc.so.6")

# The right symbol from the file where only a new glibc has it.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/wrong_file.c
     "#include <dlfcn.h>\nvoid* cuOne(void);\nvoid* cuOne(void) { return dlopen(\"none\", RTLD_NOW); }\n")
add_library(module_wrong_file SHARED ${CMAKE_CURRENT_BINARY_DIR}/wrong_file.c)
cgpu_portable_fault(wrong_files module_wrong_file sample_all.map "takes dlopen@GLIBC_2.34 from libc.so.6")
