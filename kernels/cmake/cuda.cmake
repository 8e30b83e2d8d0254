# The CUDA half: finds nvcc and compiles units with plain custom commands. CMake's own CUDA language is not used: it
# does not know the folder layout of NVIDIA's compiler wheels, and we want ptxas's report of every unit in a file
# (scripts/check_spills.py reads them).

set(GE_NVCC "")
if(GPU_ENVS_CUDA MATCHES "^(0|off|OFF|false|no)$")
  return()
endif()
set(required OFF)
if(GPU_ENVS_CUDA MATCHES "^(1|on|ON|true|yes)$")
  set(required ON)
endif()

# Ends the search: an error where CUDA was asked for, a line otherwise.
macro(ge_no_cuda why)
  if(required)
    message(FATAL_ERROR "CUDA was asked for (GPU_ENVS_CUDA=${GPU_ENVS_CUDA}), but ${why}")
  endif()
  message(STATUS "CUDA module: not built, since ${why}")
  return()
endmacro()

# --- the compiler: CUDA_HOME, PATH, the usual folder, NVIDIA's compiler wheels in GE_PYTHON's site-packages
set(candidates "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin")
unset(nvcc CACHE)
find_program(nvcc nvcc PATHS ${candidates} NO_DEFAULT_PATH NO_CACHE)
if(NOT nvcc)
  find_program(nvcc nvcc PATHS /usr/local/cuda/bin NO_CACHE)
endif()
if(NOT nvcc AND GE_PYTHON)
  execute_process(
    COMMAND "${GE_PYTHON}" -c "import os, sysconfig
print(os.path.join(sysconfig.get_path('purelib'), 'nvidia', 'cu13', 'bin'))"
    OUTPUT_VARIABLE wheels OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_program(nvcc nvcc PATHS "${wheels}" NO_DEFAULT_PATH NO_CACHE)
endif()
if(NOT nvcc)
  ge_no_cuda("nvcc was not found (CUDA_HOME, PATH, or the extra cuda-build)")
endif()

# --- its folders: nvcc says where it lives; wheels have lib where a toolkit has lib64
execute_process(COMMAND "${nvcc}" --dryrun -c -x cu /dev/null -o /dev/null ERROR_VARIABLE dryrun OUTPUT_QUIET)
if(NOT dryrun MATCHES "TOP=([^\n]*)")
  ge_no_cuda("${nvcc} does not say where its folder is:\n${dryrun}")
endif()
get_filename_component(top "${CMAKE_MATCH_1}" ABSOLUTE)
find_path(cuda_include cuda_runtime.h PATHS "${top}/include" "${top}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include"
          NO_DEFAULT_PATH NO_CACHE)
find_library(cudart cudart_static PATHS "${top}/lib64" "${top}/lib" "${top}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib"
             NO_DEFAULT_PATH NO_CACHE)
find_path(cub cub/device/device_radix_sort.cuh
          PATHS "${top}/include/cccl" "${top}/include" "${top}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include/cccl"
                "${top}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include"
          NO_DEFAULT_PATH NO_CACHE)
if(NOT cub)
  ge_no_cuda("${top} has no CUB (of NVIDIA's CCCL; as a package: nvidia-cuda-cccl)")
endif()
if(NOT cuda_include OR NOT cudart)
  ge_no_cuda("${top} has no CUDA runtime (cuda_runtime.h, libcudart_static.a)")
endif()

# --- architectures
set(archs "${GPU_ENVS_CUDA_ARCHS}")
string(REPLACE "," ";" archs "${archs}")
if(archs STREQUAL "release")
  set(archs 75 80 86 89 90 100 120 ptx)
elseif(NOT archs)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE archs ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT archs MATCHES "[0-9]")
    set(archs 90)
  endif()
  string(REGEX MATCHALL "[0-9]+\\.?[0-9]*" archs "${archs}")
  list(TRANSFORM archs REPLACE "\\." "")
  list(REMOVE_DUPLICATES archs)
endif()
set(codes "")
foreach(arch ${archs})
  if(arch STREQUAL "ptx")
    list(APPEND codes -gencode=arch=compute_${last},code=compute_${last})
  elseif(arch MATCHES "^[0-9]+[af]?$")
    list(APPEND codes -gencode=arch=compute_${arch},code=sm_${arch})
    set(last ${arch})
  else()
    message(FATAL_ERROR "GPU_ENVS_CUDA_ARCHS: `${arch}` is no compute capability (expected e.g. 80;90 or release)")
  endif()
endforeach()

# --- flags
set(GE_HOST_FLAGS_CUDA -fPIC -fvisibility=hidden -fvisibility-inlines-hidden ${GE_HOST_FLAGS} ${GE_FLAGS_${GE_BASELINE}})
list(JOIN GE_HOST_FLAGS_CUDA "," host_flags)
set(nvcc_flags -std=c++20 -O3 --fmad=false "-ccbin=${CMAKE_CXX_COMPILER}" "-I${CMAKE_CURRENT_SOURCE_DIR}"
    "-Xcompiler=${host_flags}" -Xptxas=-v --threads=0 ${codes})
list(APPEND nvcc_flags -isystem "${cub}")
if(NOT GPU_ENVS_CUDA_ARCHS STREQUAL "release")
  list(APPEND nvcc_flags -lineinfo)  # for profilers; it puts the paths of the sources into the binary
endif()
if(GE_WERROR)
  list(APPEND nvcc_flags -Werror=all-warnings)
endif()
if(GE_CHECKED)
  list(APPEND nvcc_flags -DGE_CHECKED)
endif()

# --- a tiny kernel first: pieces of different releases, or a host compiler that is too new, show up here, once
set(key "${nvcc} ${codes} ${CMAKE_CXX_COMPILER}")
if(NOT GE_CUDA_PROBED STREQUAL key)
  file(WRITE "${CMAKE_BINARY_DIR}/probe.cu" "#include <cuda_runtime.h>\n__global__ void probe(float* x) { *x += 1; }\n")
  execute_process(
    COMMAND "${nvcc}" ${nvcc_flags} -c "${CMAKE_BINARY_DIR}/probe.cu" -o "${CMAKE_BINARY_DIR}/probe.cu.o"
    ERROR_VARIABLE problem OUTPUT_VARIABLE problem RESULT_VARIABLE failed)
  if(failed)
    ge_no_cuda("${nvcc} cannot compile (are its packages of one release, and the host compiler supported?):\n${problem}")
  endif()
  set(GE_CUDA_PROBED "${key}" CACHE INTERNAL "")
endif()

set(GE_NVCC "${nvcc}")
list(JOIN archs " " shown)
message(STATUS "CUDA module: ${nvcc}, architectures ${shown}")

# ge_cuda_object(<object> <source>): compiles one unit and keeps ptxas's report beside the object as <name>.ptxas.txt.
function(ge_cuda_object object source)
  get_filename_component(name "${source}" NAME_WE)
  set(out "${CMAKE_BINARY_DIR}/cuda/${name}")
  add_custom_command(
    OUTPUT "${out}.o"
    COMMAND "${CMAKE_COMMAND}" "-DREPORT=${out}.ptxas.txt" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/nvcc.cmake" --
            "${GE_NVCC}" ${nvcc_flags} -MD -MF "${out}.d" -MT "${out}.o" -c "${source}" -o "${out}.o"
    DEPENDS "${source}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/nvcc.cmake"
    DEPFILE "${out}.d"
    COMMENT "Building CUDA object ${name}.o"
    VERBATIM)
  set(${object} "${out}.o" PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/cuda")
file(GLOB cuda_sources CONFIGURE_DEPENDS engine/cuda/*.cu)
file(GLOB cuda_host_sources CONFIGURE_DEPENDS engine/cuda/*.cpp)
ge_units(units cuda ${GE_ENVS})
set(objects "")
foreach(source ${units} ${cuda_sources})
  ge_cuda_object(object "${source}")
  list(APPEND objects "${object}")
endforeach()

ge_static_library(ge_cuda ${GE_BASELINE} ${GE_ENGINE_SOURCES} ${GE_ENGINE_CPU_SOURCES} ${cuda_host_sources}
                  ${objects})
set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(ge_cuda PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(ge_cuda SYSTEM PUBLIC "${cuda_include}")
target_link_libraries(ge_cuda PUBLIC "${cudart}" ${CMAKE_DL_LIBS} rt)
