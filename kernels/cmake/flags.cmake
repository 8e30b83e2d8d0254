# Compiler flags and instruction sets. The numeric flags are part of the product: equal bits on every machine rest on
# them (contraction off, no fast-math), so they are set here for every configuration and nowhere else.

find_program(GE_CCACHE ccache)
if(GE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${GE_CCACHE}")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
  message(FATAL_ERROR "gpu_envs needs g++ 11 or newer; ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_VERSION}")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# -O3, since g++ 12's -O2 leaves the loops over worlds scalar; no -DNDEBUG, since GE_ASSERT has its own switch.
set(CMAKE_CXX_FLAGS_RELEASE "-O3")

# Host flags that nvcc's host pass needs too. -fno-gnu-unique: two instruction sets loaded into one process must not
# share inline variables.
set(GE_HOST_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math "-ffile-prefix-map=${GE_ROOT}/=")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wno-psabi: packs (engine/packs.hpp) are wider than the registers of older instruction sets, and never leave a file.
  list(APPEND GE_HOST_FLAGS -fno-gnu-unique -Wno-psabi)
endif()

find_package(Threads REQUIRED)
add_library(ge_flags INTERFACE)
target_include_directories(ge_flags INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_options(ge_flags INTERFACE ${GE_HOST_FLAGS} -Wall -Wextra -ftemplate-backtrace-limit=3)
target_link_libraries(ge_flags INTERFACE Threads::Threads)
if(GE_WERROR)
  target_compile_options(ge_flags INTERFACE -Werror)
endif()
if(GE_CHECKED)
  target_compile_definitions(ge_flags INTERFACE GE_CHECKED)
endif()
if(GE_SANITIZE)
  target_compile_options(ge_flags INTERFACE -fsanitize=${GE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ge_flags INTERFACE -fsanitize=${GE_SANITIZE})
endif()

# One whole build per instruction set: inline functions of two of them in one binary would be merged by the linker, and
# an old processor would meet new instructions.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(GE_ALL_INSTRUCTION_SETS v2 v3 v4)
else()
  set(GE_ALL_INSTRUCTION_SETS generic)
endif()
if(NOT GE_INSTRUCTION_SETS)
  set(GE_INSTRUCTION_SETS ${GE_ALL_INSTRUCTION_SETS})
endif()
list(GET GE_INSTRUCTION_SETS 0 GE_BASELINE)

set(GE_FLAGS_v2 -march=x86-64-v2)
set(GE_FLAGS_v3 -march=x86-64-v3)
set(GE_FLAGS_v4 -march=x86-64-v4 -mprefer-vector-width=512)
set(GE_FLAGS_generic "")
set(GE_NAME_v2 "x86-64-v2")
set(GE_NAME_v3 "x86-64-v3")
set(GE_NAME_v4 "x86-64-v4")
set(GE_NAME_generic "generic")

# Those that this processor runs, for the tests (feature names, since older compilers lack the level names).
set(GE_RUNNABLE ${GE_BASELINE})
if(NOT DEFINED GE_HAS_v3 AND NOT GE_BASELINE STREQUAL "generic" AND NOT CMAKE_CROSSCOMPILING)
  foreach(level v3 v4)
    if(level STREQUAL "v3")
      set(features avx2 bmi2 fma)
    else()
      set(features avx512f avx512bw avx512cd avx512dq avx512vl)
    endif()
    set(test "1")
    foreach(feature ${features})
      string(APPEND test " && __builtin_cpu_supports(\"${feature}\")")
    endforeach()
    file(WRITE "${CMAKE_BINARY_DIR}/probe_${level}.cpp" "int main() { return (${test}) ? 0 : 1; }\n")
    try_run(code compiled "${CMAKE_BINARY_DIR}/probe" "${CMAKE_BINARY_DIR}/probe_${level}.cpp")
    if(compiled AND code EQUAL 0)
      set(GE_HAS_${level} ON CACHE INTERNAL "")
    else()
      set(GE_HAS_${level} OFF CACHE INTERNAL "")
    endif()
  endforeach()
endif()
foreach(level v3 v4)
  if(GE_HAS_${level} AND level IN_LIST GE_INSTRUCTION_SETS AND NOT level IN_LIST GE_RUNNABLE)
    list(APPEND GE_RUNNABLE ${level})
  endif()
endforeach()
