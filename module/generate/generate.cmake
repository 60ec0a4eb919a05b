# The generator's functions, and the tests that its facts agree with the installed CUDA toolkit, and that each function of the
# driver has a class.
include(${CMAKE_CURRENT_LIST_DIR}/functions.cmake)
if(CGPU_TESTS)
  add_test(NAME module.generate.cuda_api
    COMMAND Python3::Interpreter -B ${CGPU_GENERATE_FOLDER}/check_api.py ${CGPU_CUDA_API} --compiler ${CMAKE_C_COMPILER})
  set_tests_properties(module.generate.cuda_api PROPERTIES LABELS unit SKIP_RETURN_CODE 77)
  add_test(NAME module.generate.coverage
    COMMAND Python3::Interpreter -B ${CGPU_GENERATE_FOLDER}/coverage.py ${PROJECT_SOURCE_DIR})
  set_tests_properties(module.generate.coverage PROPERTIES LABELS unit)
endif()
