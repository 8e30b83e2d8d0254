# The extension modules: _cpu_<isa>, one whole build per instruction set, and _cuda. pybind11 is header-only, so the
# interpreter is asked for the three things a module needs and no package of CMake's is involved.

set(GE_MODULE_NAMES "")
if(NOT GE_MODULES)
  return()
endif()

set(python "${GE_PYTHON}")
if(NOT python)
  find_program(GE_DEFAULT_PYTHON NAMES python3 python)
  set(python "${GE_DEFAULT_PYTHON}")
endif()
execute_process(
  COMMAND "${python}" -c "import pybind11, sysconfig
print(sysconfig.get_path('include'), pybind11.get_include(), sysconfig.get_config_var('EXT_SUFFIX'), sep=';')"
  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_VARIABLE problem)
if(failed)
  if(GE_PYTHON)
    message(FATAL_ERROR "${GE_PYTHON} cannot say how to build extension modules:\n${problem}")
  endif()
  message(STATUS "Extension modules: none, since no Python with pybind11 was found (set GE_PYTHON)")
  return()
endif()
list(GET answer 0 GE_PYTHON_INCLUDE)
list(GET answer 1 GE_PYBIND11_INCLUDE)
list(GET answer 2 GE_PYTHON_SUFFIX)
if(NOT EXISTS "${GE_PYTHON_INCLUDE}/Python.h")
  message(FATAL_ERROR "${GE_PYTHON_INCLUDE} lacks Python.h: install the headers of ${python} (Debian: python3-dev)")
endif()

# ge_module(<name> <machine> <instruction set's name> <compile flags> <libraries...>)
function(ge_module name machine instruction_set flags registry)
  add_library(${name} MODULE bindings/module.cpp ${registry})
  target_compile_definitions(${name} PRIVATE
    GE_MODULE=${name} "GE_MACHINE=\"${machine}\"" "GE_INSTRUCTION_SET=\"${instruction_set}\"")
  target_compile_options(${name} PRIVATE ${flags})
  target_include_directories(${name} SYSTEM PRIVATE "${GE_PYTHON_INCLUDE}" "${GE_PYBIND11_INCLUDE}")
  target_link_libraries(${name} PRIVATE ${ARGN} ge_flags)
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX "${GE_PYTHON_SUFFIX}")
  install(TARGETS ${name} LIBRARY DESTINATION gpu_envs COMPONENT package)
endfunction()

foreach(isa ${GE_INSTRUCTION_SETS})
  ge_module(_cpu_${isa} cpu ${GE_NAME_${isa}} "${GE_FLAGS_${isa}}" ${GE_REGISTRY_cpu} ge_envs_${isa})
endforeach()

install(FILES "${GE_DESCRIPTION}" DESTINATION gpu_envs COMPONENT package)

if(GE_NVCC)
  ge_registry(GE_REGISTRY_cuda cuda cuda ${GE_ENVS})
  ge_module(_cuda cuda cuda "${GE_FLAGS_${GE_BASELINE}}" ${GE_REGISTRY_cuda} ge_cuda)
  add_custom_target(cuda DEPENDS _cuda)
endif()
