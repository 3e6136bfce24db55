# FindPpCuda: the CUDA toolkit and NCCL, as installed on the system or as
# `setup --cuda` brings them from PyPI.
#
#   PpCuda_FOUND            both are there
#   PpCuda_REASON           else: which is missing, and where it was looked for
#   PpCuda_NVCC             the compiler; set CMAKE_CUDA_COMPILER to it before
#                           enable_language(CUDA)
#   PpCuda::cudart, PpCuda::nccl
#
# Looked for in this order: CUDACXX, PATH, /usr/local/cuda, $PP_HOME/cuda-*;
# NCCL in PP_NCCL_ROOT, beside the toolkit, in the system's folders, then in
# wheels under $PP_HOME (default ~/.cache/pp). Never by find_package(CUDAToolkit):
# it takes the first toolkit on PATH for granted and knows no NCCL.
include_guard(GLOBAL)

set(home $ENV{PP_HOME})
if(NOT home)
  set(home $ENV{HOME}/.cache/pp)
endif()
file(GLOB wheels ${home}/cuda-*/lib/python3*/site-packages/nvidia
     ${home}/torch-*/lib/python3*/site-packages/nvidia)
list(TRANSFORM wheels APPEND /cu13 OUTPUT_VARIABLE wheel_toolkits)
list(TRANSFORM wheels APPEND /nccl OUTPUT_VARIABLE wheel_nccls)

# The toolkit of an nvcc, as it says itself: it may be a wrapper that stands
# elsewhere, or one whose toolkit has gone.
function(pp_toolkit_of nvcc out)
  execute_process(COMMAND ${nvcc} --dryrun pp.cu OUTPUT_VARIABLE text
                  ERROR_VARIABLE text RESULT_VARIABLE status)
  if(text MATCHES "_HERE_=([^\r\n]+)/bin")
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

find_program(PpCuda_PATH_NVCC nvcc)
mark_as_advanced(PpCuda_PATH_NVCC)
list(TRANSFORM wheel_toolkits APPEND /bin/nvcc OUTPUT_VARIABLE wheel_nvccs)
unset(PpCuda_NVCC)
set(toolkit "")
foreach(nvcc IN ITEMS $ENV{CUDACXX} ${PpCuda_PATH_NVCC} /usr/local/cuda/bin/nvcc
                      ${wheel_nvccs})
  if(EXISTS "${nvcc}" AND NOT toolkit)
    pp_toolkit_of(${nvcc} toolkit)
    if(toolkit)
      set(PpCuda_NVCC ${toolkit}/bin/nvcc)
    endif()
  endif()
endforeach()

set(PpCuda_REASON "")
if(PpCuda_NVCC)
  find_path(PpCuda_INCLUDE cuda_runtime_api.h PATHS ${toolkit} ${toolkit}/targets/x86_64-linux
            PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
  find_library(PpCuda_CUDART NAMES cudart libcudart.so.13 libcudart.so.12 PATHS ${toolkit}
               ${toolkit}/targets/x86_64-linux PATH_SUFFIXES lib64 lib
               NO_DEFAULT_PATH NO_CACHE)
  set(nccl_places $ENV{PP_NCCL_ROOT} ${toolkit} ${toolkit}/../nccl /usr/local /usr
      ${wheel_nccls})
  find_path(PpCuda_NCCL_INCLUDE nccl.h PATHS ${nccl_places}
            PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
  find_library(PpCuda_NCCL NAMES nccl libnccl.so.2 PATHS ${nccl_places}
               PATH_SUFFIXES lib64 lib lib/x86_64-linux-gnu NO_DEFAULT_PATH NO_CACHE)
  if(NOT PpCuda_INCLUDE OR NOT PpCuda_CUDART)
    set(PpCuda_REASON "${toolkit} has a compiler but no CUDA runtime")
  elseif(NOT PpCuda_NCCL_INCLUDE OR NOT PpCuda_NCCL)
    set(PpCuda_REASON "no NCCL beside ${toolkit}, in /usr or in ${home}")
  endif()
else()
  set(PpCuda_REASON "no CUDA toolkit: no nvcc in CUDACXX, PATH, /usr/local/cuda or ${home}/cuda-*")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  PpCuda REQUIRED_VARS PpCuda_NVCC PpCuda_INCLUDE PpCuda_CUDART
                       PpCuda_NCCL_INCLUDE PpCuda_NCCL
  REASON_FAILURE_MESSAGE "${PpCuda_REASON} (`./setup --cuda` brings both)")

if(PpCuda_FOUND AND NOT TARGET PpCuda::cudart)
  # A toolkit's own folder counts as one that the loader knows, so CMake leaves
  # it out of the rpath; a toolkit from wheels is known to nobody.
  get_filename_component(cudart_folder ${PpCuda_CUDART} DIRECTORY)
  add_library(PpCuda::cudart UNKNOWN IMPORTED)
  set_target_properties(PpCuda::cudart PROPERTIES
                        INTERFACE_LINK_OPTIONS LINKER:-rpath,${cudart_folder}
                        IMPORTED_LOCATION ${PpCuda_CUDART}
                        INTERFACE_INCLUDE_DIRECTORIES ${PpCuda_INCLUDE})
  add_library(PpCuda::nccl UNKNOWN IMPORTED)
  set_target_properties(PpCuda::nccl PROPERTIES
                        IMPORTED_LOCATION ${PpCuda_NCCL}
                        INTERFACE_INCLUDE_DIRECTORIES ${PpCuda_NCCL_INCLUDE}
                        INTERFACE_LINK_LIBRARIES PpCuda::cudart)
endif()
