# What is generated from a front's list of hooked functions, at build time:
#   cgpu_version_script(OUT.map HOOKS)   exports the hooks and nothing else
#   cgpu_hook_table(OUT.cpp HOOKS)       hook_table() for the look-ups by cuGetProcAddress; add OUT.cpp and
#                                        ${CGPU_HOOK_TABLE_SOURCE} to the front's sources
#   cgpu_known_functions(OUT.cpp)        elf::known_functions(): the names of all functions that a libcuda is known to have
# OUT is an absolute path in the build tree; HOOKS the list, one exported symbol a line.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(CGPU_GENERATE_FOLDER ${CMAKE_CURRENT_LIST_DIR})
set(CGPU_HOOK_TABLE_SOURCE ${CGPU_GENERATE_FOLDER}/hook_table.cpp)
set(CGPU_CUDA_API ${CGPU_GENERATE_FOLDER}/cuda_api.tsv)

function(cgpu_version_script out hooks)
  add_custom_command(OUTPUT ${out}
    COMMAND Python3::Interpreter -B ${CGPU_GENERATE_FOLDER}/generate.py script ${hooks} ${out}
    DEPENDS ${CGPU_GENERATE_FOLDER}/generate.py ${CGPU_GENERATE_FOLDER}/cuda_api.py ${hooks} VERBATIM)
endfunction()

function(cgpu_hook_table out hooks)
  add_custom_command(OUTPUT ${out}
    COMMAND Python3::Interpreter -B ${CGPU_GENERATE_FOLDER}/generate.py table ${hooks} ${CGPU_CUDA_API} ${out}
    DEPENDS ${CGPU_GENERATE_FOLDER}/generate.py ${CGPU_GENERATE_FOLDER}/cuda_api.py ${hooks} ${CGPU_CUDA_API} VERBATIM)
endfunction()

function(cgpu_known_functions out)
  set(private ${CGPU_GENERATE_FOLDER}/private_exports.txt)
  add_custom_command(OUTPUT ${out}
    COMMAND Python3::Interpreter -B ${CGPU_GENERATE_FOLDER}/generate.py names ${private} ${CGPU_CUDA_API} ${out}
    DEPENDS ${CGPU_GENERATE_FOLDER}/generate.py ${CGPU_GENERATE_FOLDER}/cuda_api.py ${private} ${CGPU_CUDA_API} VERBATIM)
endfunction()
