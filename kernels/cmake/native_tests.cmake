# The native tests: one executable per tests/kernels/**/*_test.cpp and per build of the engine that it asks for by name.
#   x_test.cpp            the CPU executor, default block, best instruction set of this processor
#   x_blocks_test.cpp     the CPU executor with GE_BLOCK = 1, 16, 32, and the default with each instruction set
#   x_shuffled_test.cpp   cpu/shuffled (GE_BLOCK = 1)
#   x_lanes_test.cpp      cpu/lanes, the CUDA executor's code on emulated lanes
# Builds are never mixed in one binary: equal templates compiled with other macros would be merged by the linker. Those
# that only tests need are compiled with -O1: in less than half the time, and bits must not depend on it.
# In every executable ge::registry() lists our environments and those of tests/kernels/envs. Planted mistakes, stems that
# begin with `faulty`, are only in planted_*_shuffled_test.cpp and planted_*_lanes_test.cpp, alone.
# Sanitizers triple the compile time, so under one of them each thing is built once: x_blocks_test.cpp with the default
# block (cpu/shuffled has block 1, cpu/lanes the layout of CUDA), cpu/shuffled and cpu/lanes with the environments of the
# tests alone (GE_TEST_ENVS_ONLY; the arena has every stage), and no planted mistakes.

set(folder "${GE_ROOT}/tests/kernels")
if(NOT EXISTS "${folder}/main.cpp")
  return()
endif()
enable_testing()
add_custom_target(tests)
set(planted ${GE_TEST_ENVS})
list(FILTER planted INCLUDE REGEX "^faulty")
list(FILTER GE_TEST_ENVS EXCLUDE REGEX "^faulty")
set(all_envs ${GE_ENVS} ${GE_TEST_ENVS})

# ge_build(<name> <machine> <isa> <list of stems> [<definitions>...]): library ge_build_<name> with engine, environments
# and registry.
function(ge_build name machine isa stems)
  ge_units(units ${machine} ${${stems}})
  ge_registry(registry test_${name} ${machine} ${${stems}})
  if(machine STREQUAL "cpu" AND NOT ARGN)  # the modules' own objects, and what only tests have
    ge_units(units cpu ${GE_TEST_ENVS})
    ge_static_library(ge_build_${name} ${isa} ${units} ${registry} "${folder}/main.cpp")
    target_link_libraries(ge_build_${name} PUBLIC ge_envs_${isa})
  else()
    ge_static_library(ge_build_${name} ${isa} ${units} ${registry} "${folder}/main.cpp")
    target_link_libraries(ge_build_${name} PUBLIC ge_engine_${isa})  # knows nothing of blocks
    target_compile_options(ge_build_${name} PUBLIC -O1)
  endif()
  target_compile_definitions(ge_build_${name} PUBLIC ${ARGN})
  target_compile_options(ge_build_${name} INTERFACE ${GE_FLAGS_${isa}})
  target_include_directories(ge_build_${name} PUBLIC "${folder}")
endfunction()

list(GET GE_RUNNABLE -1 best)
foreach(isa ${GE_RUNNABLE})
  ge_build(${isa} cpu ${isa} all_envs)
endforeach()
foreach(block 1 16 32)
  ge_build(block${block} cpu ${best} all_envs GE_BLOCK=${block})
endforeach()
set(tested all_envs)
set(only "")
if(GE_SANITIZE)
  set(tested GE_TEST_ENVS)
  set(only GE_TEST_ENVS_ONLY)
endif()
ge_build(shuffled shuffled ${best} ${tested} GE_BLOCK=1 ${only})
ge_build(lanes lanes ${best} ${tested} GE_CUDA_LAYOUT ${only})
ge_build(planted_shuffled shuffled ${best} planted GE_BLOCK=1)
ge_build(planted_lanes lanes ${best} planted GE_CUDA_LAYOUT)

# The thread sanitizer of older compilers cannot cope with much address randomisation.
set(launcher "")
if(GE_SANITIZE MATCHES "thread")
  execute_process(COMMAND setarch -R true RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    set(launcher setarch -R)
  endif()
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*_test.cpp")
foreach(source ${sources})
  file(RELATIVE_PATH name "${folder}" "${source}")
  string(REGEX REPLACE "_test\\.cpp$" "" name "${name}")
  string(REPLACE "/" "." name "${name}")
  if(GE_TEST_FILTER AND NOT name MATCHES "${GE_TEST_FILTER}")
    continue()
  endif()
  if(name MATCHES "_blocks$")
    set(builds block1 block16 block32 ${GE_RUNNABLE})
    if(GE_SANITIZE)
      set(builds ${best})
    endif()
  elseif(name MATCHES "planted_.*_(shuffled|lanes)$")
    set(builds planted_${CMAKE_MATCH_1})
    if(GE_SANITIZE)
      continue()
    endif()
  elseif(name MATCHES "_(shuffled|lanes)$")
    set(builds ${CMAKE_MATCH_1})
  else()
    set(builds ${best})
  endif()
  foreach(build ${builds})
    set(test "${name}")
    if(name MATCHES "_blocks$")
      set(test "${name}.${build}")
    endif()
    add_executable(test.${test} EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(test.${test} PRIVATE ge_build_${build})
    set_target_properties(test.${test} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    add_dependencies(tests test.${test})
    add_test(NAME ${test} COMMAND ${launcher} $<TARGET_FILE:test.${test}> WORKING_DIRECTORY "${GE_ROOT}")
  endforeach()
endforeach()
