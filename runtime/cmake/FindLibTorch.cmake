# Finds LibTorch >= 2.4: the C++ libraries of PyTorch, from a libtorch archive
# or from the folder of a Python wheel (site-packages/torch). Why not the
# package's own find_package(Torch): on a wheel it demands a CUDA toolkit even
# for the CPU.
#
# Looked at, in this order:
#   PP_TORCH_ROOT                  a libtorch folder or a site-packages/torch
#   CMAKE_PREFIX_PATH              the same, or a prefix with one below it
#   $PP_HOME (~/.cache/pp)/torch-* the newest one there
# Sets LibTorch_FOUND, LibTorch_VERSION, LibTorch_ROOT and the target
# LibTorch::LibTorch (torch_cpu and c10, with an rpath to them).

set(PP_TORCH_ROOT "" CACHE PATH "a libtorch folder or a site-packages/torch")

# The folder that holds include/ATen and lib/libtorch_cpu.so at or below
# `prefix`, or an empty string.
function(_pp_torch_below prefix out)
  file(GLOB candidates
       ${prefix} ${prefix}/libtorch ${prefix}/torch
       ${prefix}/lib/python3*/site-packages/torch
       ${prefix}/lib/python3*/dist-packages/torch)
  foreach(candidate IN LISTS candidates)
    if(EXISTS ${candidate}/include/ATen/ATen.h AND
       EXISTS ${candidate}/lib/libtorch_cpu.so)
      set(${out} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()

function(_pp_torch_find out)
  set(prefixes ${CMAKE_PREFIX_PATH} $ENV{CMAKE_PREFIX_PATH})
  if(PP_TORCH_ROOT)
    set(prefixes ${PP_TORCH_ROOT})
  else()
    set(home $ENV{PP_HOME})
    if(NOT home)
      set(home $ENV{HOME}/.cache/pp)
    endif()
    file(GLOB kept ${home}/torch-*)
    list(SORT kept COMPARE NATURAL ORDER DESCENDING)
    list(APPEND prefixes ${kept})
  endif()
  foreach(prefix IN LISTS prefixes)
    _pp_torch_below(${prefix} found)
    if(found)
      set(${out} ${found} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()

# Major.minor.patch from the headers; where they are differs by release.
function(_pp_torch_version root out)
  set(version "")
  foreach(header headeronly/version.h version.h
                 csrc/api/include/torch/version.h)
    set(path ${root}/include/torch/${header})
    if(EXISTS ${path} AND NOT version)
      file(READ ${path} text)
      if(text MATCHES "TORCH_VERSION_MAJOR ([0-9]+)")
        set(version ${CMAKE_MATCH_1})
        foreach(part MINOR PATCH)
          string(REGEX MATCH "TORCH_VERSION_${part} ([0-9]+)" _ "${text}")
          string(APPEND version ".${CMAKE_MATCH_1}")
        endforeach()
      endif()
    endif()
  endforeach()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# A reason not to take `root`, or an empty string.
function(_pp_torch_objection root out)
  set(reason "")
  set(config ${root}/share/cmake/Torch/TorchConfig.cmake)
  if(EXISTS ${config})
    file(STRINGS ${config} old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
    if(old_abi)
      set(reason "it is built with the old C++ ABI: take the cxx11-abi one")
    endif()
  endif()
  set(${out} "${reason}" PARENT_SCOPE)
endfunction()

_pp_torch_find(LibTorch_ROOT)
set(LibTorch_VERSION "")
set(_pp_torch_reason
    "no LibTorch found: set -DPP_TORCH_ROOT to a libtorch folder or to a \
site-packages/torch, or configure with -DPP_BUILD_TORCH=OFF")
if(LibTorch_ROOT)
  _pp_torch_version(${LibTorch_ROOT} LibTorch_VERSION)
  _pp_torch_objection(${LibTorch_ROOT} _pp_torch_objection_text)
  if(_pp_torch_objection_text)
    set(_pp_torch_reason "${LibTorch_ROOT}: ${_pp_torch_objection_text}")
    set(LibTorch_ROOT "")
  endif()
elseif(PP_TORCH_ROOT)
  set(_pp_torch_reason
      "PP_TORCH_ROOT=${PP_TORCH_ROOT} holds no include/ATen/ATen.h and \
lib/libtorch_cpu.so")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_ROOT
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "${_pp_torch_reason}")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  foreach(lib c10 torch_cpu)
    add_library(LibTorch::${lib} SHARED IMPORTED)
    set_target_properties(LibTorch::${lib} PROPERTIES
      IMPORTED_LOCATION ${LibTorch_ROOT}/lib/lib${lib}.so)
  endforeach()
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE
    ${LibTorch_ROOT}/include
    ${LibTorch_ROOT}/include/torch/csrc/api/include)
  # Torch brings its own fmt headers, which come first on the include path and
  # do not fit the system's libfmt: header-only serves either.
  target_compile_definitions(LibTorch::LibTorch INTERFACE FMT_HEADER_ONLY=1)
  # torch_cpu is needed although no symbol may be asked of it directly: it
  # registers the kernels.
  target_link_libraries(LibTorch::LibTorch INTERFACE
    -Wl,--no-as-needed LibTorch::torch_cpu LibTorch::c10 -Wl,--as-needed)
endif()
