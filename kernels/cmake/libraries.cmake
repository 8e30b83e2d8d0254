# What tests link: the static library ge_engine (everything that is not a template) and the objects of each environment,
# with the flags of the package's own modules.

file(GLOB_RECURSE GE_ENGINE_SOURCES CONFIGURE_DEPENDS engine/*.cpp geometry/*.cpp physics/*.cpp spatial/*.cpp pictures/*.cpp cameras/*.cpp houses/*.cpp learning/*.cpp)
list(FILTER GE_ENGINE_SOURCES EXCLUDE REGEX "engine/(cuda|web)/")

# ge_objects(<name> <level> <effort> <sources...>): objects that a program links if it names them.
function(ge_objects name level effort)
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_link_libraries(${name} PUBLIC ge_flags)
  target_compile_options(${name} PRIVATE ${GE_FLAGS_${effort}} ${GE_FLAGS_level_${level}})
endfunction()

set(GE_EFFORT optimised)
if(GE_SANITIZE)
  set(GE_EFFORT tested)
endif()

# The engine shows its names, as in the library that users load.
string(REPLACE "-fvisibility=hidden" "-fvisibility=default" visible "${GE_FLAGS_host}")
add_library(ge_engine STATIC EXCLUDE_FROM_ALL ${GE_ENGINE_SOURCES})
get_target_property(include ge_flags INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(ge_engine PRIVATE ${include})
target_compile_options(ge_engine PRIVATE ${GE_FLAGS_${GE_EFFORT}} ${GE_FLAGS_level_${GE_LEVEL}} ${visible})
if(GE_CHECKED)
  target_compile_definitions(ge_engine PRIVATE GE_CHECKED)
endif()
if(GE_SANITIZE)
  target_compile_options(ge_engine PRIVATE -fsanitize=${GE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
    -fdebug-prefix-map=${GE_ROOT}=.)
endif()
target_link_libraries(ge_engine INTERFACE ge_flags)

# ge_env_<stem>: the objects of an environment that users load, to the byte.
foreach(stem ${GE_ENVS})
  ge_units(units cpu ${stem})
  ge_objects(ge_env_${stem} ${GE_LEVEL} ${GE_EFFORT} ${units})
endforeach()
