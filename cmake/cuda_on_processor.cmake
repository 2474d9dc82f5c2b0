# The plug-in's own code, src/cuda, compiled for the processor with a runtime of CUDA that is a test's (tests/device/cuda):
# so its kernels are tested where there is no card, and under the sanitizers. It is in a folder of its own, which tests name
# in MEDLEY_PLUGINS. Tests that want it are skipped where no C++ compiler goes with the C compiler.
add_custom_target(cuda_on_processor)
if(MEDLEY_SANITIZE MATCHES "^(thread|memory)$" OR CMAKE_CROSSCOMPILING)
  return() # these sanitizers do not know threads that take turns
endif()
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
  message(STATUS "no C++ compiler: src/cuda is not tested on the processor")
  return()
endif()
enable_language(CXX)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
  message(STATUS "the C++ compiler does not go with the C compiler: src/cuda is not tested on the processor")
  return()
endif()
set(own ${PROJECT_SOURCE_DIR}/tests/device/cuda)
set(rewritten "")
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  set(output ${PROJECT_BINARY_DIR}/tests/cuda_on_processor/${name}.cpp)
  add_custom_command(OUTPUT ${output}
                     COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DOUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/cuda_launches.cmake
                     DEPENDS ${source} ${PROJECT_SOURCE_DIR}/cmake/cuda_launches.cmake COMMENT "Rewriting launches of src/cuda/${name}.cu"
                     VERBATIM)
  list(APPEND rewritten ${output})
endforeach()
add_library(cuda_on_processor_plugin MODULE ${rewritten} ${own}/cuda_runtime.cpp ${own}/cuda_threads.cpp)
target_compile_definitions(cuda_on_processor_plugin PRIVATE MEDLEY_VERSION="${PROJECT_VERSION}")
# So little memory at a time that the small data of tests come in several portions, some of them kept, in tiles of every size;
# and every array is alone, so that the sanitizers see places outside of it.
target_compile_definitions(cuda_on_processor_plugin PRIVATE CARD_SLAB=30000 CARD_SCRATCH=20000 CARD_STAGED=16384
                           CARD_SMALL=0 CARD_FEW_TILES=10 CARD_SLOT=2500)
target_include_directories(cuda_on_processor_plugin PRIVATE ${own} ${PROJECT_SOURCE_DIR}/src)
# As nvcc compiles it: four values are read as one.
target_compile_options(cuda_on_processor_plugin PRIVATE -std=c++17 -fno-strict-aliasing -Wno-conversion -fvisibility=hidden)
# In every build, for it has much to do; -O3 so that loops of sums are vectorised.
target_compile_options(cuda_on_processor_plugin PRIVATE -O3)
if(MEDLEY_SANITIZE)
  # parts for C++ are not in programs in C
  target_compile_options(cuda_on_processor_plugin PRIVATE -fno-sanitize=vptr $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
endif()
set_target_properties(cuda_on_processor_plugin PROPERTIES PREFIX lib OUTPUT_NAME medley-cuda
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/cuda_on_processor)
add_dependencies(cuda_on_processor cuda_on_processor_plugin)
