# Machinery of scripts/faults (tests/faults): a library that makes calls of a program fail, the driver
# that looks at what comes of it, and the examples, whose calls of the library fail in turn.
file(GLOB EXAMPLE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
foreach(source ${EXAMPLE_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_compile_options(example_${name} PRIVATE -Wno-error) # a compiler may guess wrongly
  target_link_libraries(example_${name} PRIVATE libmedley m)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/faults)
endforeach()

if(CMAKE_SYSTEM_NAME STREQUAL Linux AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  add_library(faults MODULE tests/faults/preload.c tests/faults/filter.c)
  add_executable(faults_driver tests/faults/driver.c tests/faults/session.c tests/faults/check.c
                 tests/faults/files.c)
  set_target_properties(faults_driver PROPERTIES OUTPUT_NAME driver)
  foreach(target faults faults_driver) # they look at a sanitizer from outside
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    target_link_options(${target} PRIVATE -fno-sanitize=all)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/faults
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/faults)
  endforeach()
  set_target_properties(faults PROPERTIES C_VISIBILITY_PRESET default)
  target_link_options(faults PRIVATE -static-libgcc) # unwinding without a library loaded on the way
  target_link_libraries(faults PRIVATE ${CMAKE_DL_LIBS})
endif()
