# The front-ends and the IR, which are Python, as compiled modules beside their sources: see tools/compile_front_ends.py.
set(FRONT_ENDS ${CMAKE_CURRENT_BINARY_DIR}/front_ends)
set(WRITE_FRONT_ENDS ${CMAKE_CURRENT_SOURCE_DIR}/tools/compile_front_ends.py)
file(GLOB_RECURSE PYTHON_FILES CONFIGURE_DEPENDS src/maskwright/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PYTHON_FILES} ${WRITE_FRONT_ENDS})

execute_process(
  COMMAND ${Python_EXECUTABLE} ${WRITE_FRONT_ENDS} ${FRONT_ENDS}
  RESULT_VARIABLE STATUS OUTPUT_VARIABLE OUTPUT ERROR_VARIABLE OUTPUT)
if(STATUS)
  message(FATAL_ERROR "${OUTPUT}\nThe front-ends were not compiled. Install mypy[mypyc], or leave them as they are with "
                      "-DMASKWRIGHT_COMPILE_FRONT_ENDS=OFF.")
endif()

# Calls between the modules, and into Python, go straight to their targets: reading a schema runs once through much code,
# most of which is in no cache by then, and a jump by way of a table is one more miss.
if(MSVC)
  set(FRONT_END_FLAGS /w /O2)
else()
  set(FRONT_END_FLAGS -w -O2 -fvisibility=hidden)
endif()
include(CheckCCompilerFlag)
check_c_compiler_flag(-fno-plt HAS_NO_PLT)
if(HAS_NO_PLT)
  list(APPEND FRONT_END_FLAGS -fno-plt)
endif()

file(STRINGS ${FRONT_ENDS}/extensions.txt EXTENSIONS)
file(STRINGS ${FRONT_ENDS}/include.txt INCLUDE)
foreach(EXTENSION IN LISTS EXTENSIONS)
  string(REPLACE "|" ";" SOURCES "${EXTENSION}")
  list(POP_FRONT SOURCES NAME)
  string(REPLACE "." "/" FILE ${NAME})
  get_filename_component(FOLDER ${FILE} DIRECTORY)
  get_filename_component(STEM ${FILE} NAME)
  string(REPLACE "." "_" TARGET ${NAME})
  python_add_library(${TARGET} MODULE WITH_SOABI ${SOURCES})
  target_include_directories(${TARGET} PRIVATE ${INCLUDE} ${FRONT_ENDS}/maskwright)
  target_compile_options(${TARGET} PRIVATE ${FRONT_END_FLAGS})
  set_target_properties(${TARGET} PROPERTIES OUTPUT_NAME ${STEM} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${FOLDER})
  install(TARGETS ${TARGET} LIBRARY DESTINATION ${FOLDER})
endforeach()
