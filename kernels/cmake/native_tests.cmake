# The native tests: one executable per tests/kernels/**/*_test.cpp and per build of the engine that it asks for by name.
#   x_test.cpp            the CPU executor, default block, best instruction set of this processor
#   x_blocks_test.cpp     the CPU executor with GE_BLOCK = 1, 16, 32, and the default with each instruction set
#   x_shuffled_test.cpp   cpu/shuffled (GE_BLOCK = 1)
#   x_lanes_test.cpp      cpu/lanes, the CUDA executor's code on emulated lanes
# Builds are never mixed in one binary: equal templates compiled with other macros would be merged by the linker. Those
# that only tests need are compiled with -O1: in less than half the time, and bits must not depend on it. Under a
# sanitizer the blocks are 1 and the default.
# In every executable ge::registry() lists our environments and those of tests/kernels/envs; planted mistakes, stems that
# begin with `faulty`, are built for cpu/shuffled and cpu/lanes alone, which look for them.

set(folder "${GE_ROOT}/tests/kernels")
if(NOT EXISTS "${folder}/main.cpp")
  return()
endif()
enable_testing()
add_custom_target(tests)
set(planted ${GE_TEST_ENVS})
list(FILTER planted INCLUDE REGEX "^faulty")
list(FILTER GE_TEST_ENVS EXCLUDE REGEX "^faulty")

# ge_build(<name> <machine> <isa> [<definitions>...]): library ge_build_<name> with engine, environments and registry.
function(ge_build name machine isa)
  set(all_envs ${GE_ENVS} ${GE_TEST_ENVS})
  if(machine MATCHES "^(shuffled|lanes)$")
    list(APPEND all_envs ${planted})
  endif()
  ge_units(units ${machine} ${all_envs})
  ge_registry(registry test_${machine} ${machine} ${all_envs})
  if(machine STREQUAL "cpu" AND NOT ARGN)  # the modules' own objects, and what only tests have
    ge_units(units cpu ${GE_TEST_ENVS})
    ge_static_library(ge_build_${name} ${isa} ${units} ${registry} "${folder}/main.cpp")
    target_link_libraries(ge_build_${name} PUBLIC ge_envs_${isa})
  else()
    ge_static_library(ge_build_${name} ${isa} ${units} ${registry} "${folder}/main.cpp" ${GE_ENGINE_SOURCES}
                      ${GE_ENGINE_CPU_SOURCES})
    target_compile_options(ge_build_${name} PUBLIC -O1)
  endif()
  target_compile_definitions(ge_build_${name} PUBLIC ${ARGN})
  target_compile_options(ge_build_${name} INTERFACE ${GE_FLAGS_${isa}})
  target_include_directories(ge_build_${name} PUBLIC "${folder}")
endfunction()

list(GET GE_RUNNABLE -1 best)
foreach(isa ${GE_RUNNABLE})
  ge_build(${isa} cpu ${isa})
endforeach()
foreach(block 1 16 32)
  ge_build(block${block} cpu ${best} GE_BLOCK=${block})
endforeach()
ge_build(shuffled shuffled ${best} GE_BLOCK=1)
ge_build(lanes lanes ${best} GE_CUDA_LAYOUT)

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
      set(builds block1 ${best})
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
