# The plug-in for NVIDIA's cards, where nvcc is. The library finds it at run time (src/device/open_device.c) and links no
# CUDA; the plug-in has CUDA's runtime inside.
add_custom_target(medley_cuda_plugin)
if(MEDLEY_CUDA STREQUAL OFF OR MEDLEY_FUZZ OR MEDLEY_SANITIZE)
  return()
endif()
find_program(MEDLEY_NVCC NAMES nvcc PATHS /usr/local/cuda/bin)
if(NOT MEDLEY_NVCC)
  if(NOT MEDLEY_CUDA STREQUAL auto)
    message(FATAL_ERROR "MEDLEY_CUDA is ON and there is no nvcc: install CUDA, or set MEDLEY_NVCC to its compiler")
  endif()
  message(STATUS "nvcc not found: no plug-in for CUDA")
  return()
endif()
set(cuda_flags -O3 -std=c++17 -I${PROJECT_SOURCE_DIR}/src -DMEDLEY_VERSION="${PROJECT_VERSION}" --threads 2
               -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
               -Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Wextra)
if(MEDLEY_WERROR)
  list(APPEND cuda_flags -Werror all-warnings -Xcompiler=-Werror)
endif()
file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
file(GLOB cuda_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.h)
set(cuda_objects "")
foreach(source ${cuda_sources})
  get_filename_component(name ${source} NAME_WE)
  set(object ${PROJECT_BINARY_DIR}/cuda/${name}.o)
  add_custom_command(OUTPUT ${object}
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/cuda
                     COMMAND ${MEDLEY_NVCC} ${cuda_flags} -c ${source} -o ${object}
                     DEPENDS ${source} ${cuda_headers} ${PROJECT_SOURCE_DIR}/src/device/device.h
                     COMMENT "Compiling src/cuda/${name}.cu" VERBATIM)
  list(APPEND cuda_objects ${object})
endforeach()
set(plugin ${PROJECT_BINARY_DIR}/libmedley-cuda.so)
add_custom_command(OUTPUT ${plugin}
                   COMMAND ${MEDLEY_NVCC} -shared -cudart static -o ${plugin} ${cuda_objects} -ldl
                   DEPENDS ${cuda_objects} COMMENT "Linking libmedley-cuda.so" VERBATIM)
add_custom_target(medley_cuda ALL DEPENDS ${plugin})
add_dependencies(medley_cuda_plugin medley_cuda)
install(FILES ${plugin} DESTINATION ${CMAKE_INSTALL_LIBDIR}/medley)
if(MEDLEY_BENCH)
  set(limits ${PROJECT_BINARY_DIR}/bench/card_limits)
  add_custom_command(OUTPUT ${limits}
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/bench
                     COMMAND ${MEDLEY_NVCC} ${cuda_flags} -cudart static -o ${limits} ${PROJECT_SOURCE_DIR}/bench/card_limits.cu
                     DEPENDS ${PROJECT_SOURCE_DIR}/bench/card_limits.cu COMMENT "Compiling bench/card_limits.cu" VERBATIM)
  add_custom_target(card_limits ALL DEPENDS ${limits})
endif()
