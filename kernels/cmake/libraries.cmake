# The static libraries that modules and tests link, per instruction set: ge_engine_<isa> (everything that is not a
# template) and ge_envs_<isa> (one unit per environment).

file(GLOB GE_ENGINE_SOURCES CONFIGURE_DEPENDS engine/*.cpp physics/*.cpp spatial/*.cpp render/*.cpp)
file(GLOB GE_ENGINE_CPU_SOURCES CONFIGURE_DEPENDS engine/cpu/*.cpp)

# ge_static_library(<name> <isa> <sources...>)
function(ge_static_library name isa)
  if(NOT ARGN)  # a tree without environments still builds
    set(ARGN "${CMAKE_BINARY_DIR}/empty.cpp")
    if(NOT EXISTS "${ARGN}")
      file(WRITE "${ARGN}" "")
    endif()
  endif()
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${name} PUBLIC ge_flags)
  target_compile_options(${name} PRIVATE ${GE_FLAGS_${isa}})
endfunction()

ge_units(units cpu ${GE_ENVS})
foreach(isa ${GE_INSTRUCTION_SETS})
  ge_static_library(ge_engine_${isa} ${isa} ${GE_ENGINE_SOURCES} ${GE_ENGINE_CPU_SOURCES})
  ge_static_library(ge_envs_${isa} ${isa} ${units})
  target_link_libraries(ge_envs_${isa} PUBLIC ge_engine_${isa})
endforeach()

# The description of all environments, which the Python package reads instead of loading native code.
ge_registry(GE_REGISTRY_cpu cpu cpu ${GE_ENVS})
set(GE_DESCRIPTION "${CMAKE_BINARY_DIR}/_environments.json")
add_executable(ge_describe bindings/describe.cpp ${GE_REGISTRY_cpu})
target_link_libraries(ge_describe PRIVATE ge_envs_${GE_BASELINE})
target_compile_options(ge_describe PRIVATE ${GE_FLAGS_${GE_BASELINE}})
add_custom_command(
  OUTPUT "${GE_DESCRIPTION}"
  COMMAND ge_describe > "${GE_DESCRIPTION}.part"
  COMMAND "${CMAKE_COMMAND}" -E rename "${GE_DESCRIPTION}.part" "${GE_DESCRIPTION}"
  DEPENDS ge_describe
  COMMENT "Describing the environments")
add_custom_target(ge_description ALL DEPENDS "${GE_DESCRIPTION}")
