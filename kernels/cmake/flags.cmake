# Compiler flags, from flags.txt, and the store of objects. CMake's own flags stay empty, so that commands are those of
# the package's builder to the word, and their objects the same.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "gpu_envs needs g++ 11 or newer; ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_VERSION}")
endif()
if(CMAKE_CXX_COMPILER_ARG1)
  message(FATAL_ERROR "CXX must name one program, got `${CMAKE_CXX_COMPILER}${CMAKE_CXX_COMPILER_ARG1}`: put flags into CXXFLAGS "
    "(objects are cached already, so a wrapper such as ccache adds nothing)")
endif()
foreach(type "" _RELEASE _DEBUG _RELWITHDEBINFO)
  set(CMAKE_CXX_FLAGS${type} "")
endforeach()
separate_arguments(own UNIX_COMMAND "$ENV{CXXFLAGS}")  # last, as the package's builder has them

# GE_FLAGS_<name> for each line `name: flags`; blanks in names become underlines.
set(flags_file "${CMAKE_CURRENT_SOURCE_DIR}/flags.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${flags_file}")
file(STRINGS "${flags_file}" lines REGEX "^[a-z].*:")
foreach(line ${lines})
  string(REGEX MATCH "^([^:]*):(.*)$" line "${line}")
  string(REPLACE " " "_" name "${CMAKE_MATCH_1}")
  string(REPLACE "$ROOT" "${GE_ROOT}" found "${CMAKE_MATCH_2}")
  separate_arguments(GE_FLAGS_${name} UNIX_COMMAND "${found}")
endforeach()
set(GE_FLAGS_host ${GE_FLAGS_common} ${GE_FLAGS_numbers} ${GE_FLAGS_warnings})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND GE_FLAGS_host ${GE_FLAGS_gnu})
  list(APPEND GE_FLAGS_tested ${GE_FLAGS_gnu_tested})
endif()
list(APPEND GE_FLAGS_host ${own})

find_program(GE_FOUND_PYTHON NAMES python3 python)
if(NOT GE_PYTHON)
  set(GE_PYTHON "${GE_FOUND_PYTHON}")
endif()
if(GE_PYTHON)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${GE_PYTHON};-E;-S;${GE_ROOT}/gpu_envs/building/launcher.py;${GE_ROOT}")
endif()

find_package(Threads REQUIRED)
add_library(ge_flags INTERFACE)
target_include_directories(ge_flags INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(ge_flags INTERFACE ${GE_FLAGS_host})
target_link_libraries(ge_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
if(GE_CHECKED)
  target_compile_definitions(ge_flags INTERFACE GE_CHECKED)
endif()
if(GE_SANITIZE)
  target_compile_options(ge_flags INTERFACE -fsanitize=${GE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
    -fdebug-prefix-map=${GE_ROOT}=.)
  target_link_options(ge_flags INTERFACE -fsanitize=${GE_SANITIZE})
endif()

# The levels that this processor runs, as the package finds them.
set(GE_RUNNABLE "")
if(GE_PYTHON)
  execute_process(COMMAND "${GE_PYTHON}" -E -S "${GE_ROOT}/gpu_envs/building/processor.py"
    OUTPUT_VARIABLE GE_RUNNABLE OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
else()
  set(GE_RUNNABLE generic)
endif()
if(NOT GE_LEVEL)
  list(GET GE_RUNNABLE -1 GE_LEVEL)
endif()
