# pp_library(NAME HDRS ... SRCS ... DEPS ... PRIVATE_DEPS ... [EXCEPTIONS])
#   One folder, one library, one namespace. Compiled without exceptions unless
#   EXCEPTIONS says that the folder is the border to a library that throws.
# pp_program(NAME SRCS ... DEPS ...)   -> bin/NAME
# pp_test(NAME SRCS ... DEPS ... [LABELS ...] [EXCEPTIONS])
#   A GoogleTest program, one ctest entry per test case.
include_guard(GLOBAL)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(PP_CCACHE ccache)
  if(PP_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PP_CCACHE})
  endif()
endif()
get_filename_component(PP_SOURCE_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Threads REQUIRED)

add_library(pp_options INTERFACE)
target_include_directories(pp_options INTERFACE ${PP_SOURCE_ROOT})
target_compile_features(pp_options INTERFACE cxx_std_20)
target_compile_options(pp_options INTERFACE -Wall -Wextra -Werror=switch
                                            -Werror=return-type)
target_link_libraries(pp_options INTERFACE fmt::fmt tl::expected)

function(pp_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "HDRS;SRCS;DEPS;PRIVATE_DEPS"
                        ${ARGN})
  if(ARG_SRCS)
    add_library(${name} STATIC ${ARG_SRCS})
    set(scope PUBLIC)
    if(NOT ARG_EXCEPTIONS)
      target_compile_options(${name} PRIVATE -fno-exceptions)
    endif()
    target_link_libraries(${name} PRIVATE ${ARG_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  if(ARG_HDRS)
    target_sources(${name} ${scope} FILE_SET HEADERS
                   BASE_DIRS ${PP_SOURCE_ROOT} FILES ${ARG_HDRS})
  endif()
  target_link_libraries(${name} ${scope} pp_options ${ARG_DEPS})
endfunction()

function(pp_program name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE pp_options ${ARG_DEPS})
endfunction()

function(pp_test name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "SRCS;DEPS;LABELS" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE pp_options ${ARG_DEPS}
                                        GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                           ${CMAKE_BINARY_DIR}/tests)
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABELS}"
                       DISCOVERY_MODE PRE_TEST)
endfunction()

# Folders that exist are added in this order.
function(pp_add_folders)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      add_subdirectory(${folder})
    endif()
  endforeach()
endfunction()
