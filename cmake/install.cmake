# Installs the command, the library (shared and static) with its headers, pkg-config and CMake package files, manual
# pages and bash completion.
include(CMakePackageConfigHelpers)

install(TARGETS medley RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS libmedley libmedley_shared EXPORT medleyTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/medley)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1")
install(FILES ${PROJECT_BINARY_DIR}/man/medley.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME medley)

get_filename_component(BLAS_NAME ${BLAS_LIBRARY} NAME_WE)
string(REGEX REPLACE "^lib" "-l" BLAS_NAME ${BLAS_NAME})
set(MEDLEY_PRIVATE_LIBS "-lm -lz ${BLAS_NAME} ${MEDLEY_LIBSVM_LIBS} ${MEDLEY_CLP_LIBS} -pthread -ldl")
# Two files, since -lmedley always finds the shared library first.
function(pkgconfig_file name)
  configure_file(cmake/medley.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
set(MEDLEY_LIBS "-L\${libdir} -lmedley -lm") # -lm: for the program itself
set(MEDLEY_LIBS_PRIVATE "${MEDLEY_PRIVATE_LIBS}")
pkgconfig_file(medley)
set(MEDLEY_LIBS "\${libdir}/libmedley.a ${MEDLEY_PRIVATE_LIBS}")
set(MEDLEY_LIBS_PRIVATE "")
pkgconfig_file(medley-static)
configure_package_config_file(cmake/medley-config.cmake.in ${PROJECT_BINARY_DIR}/medley-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/medley-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/medley-config.cmake ${PROJECT_BINARY_DIR}/medley-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
install(EXPORT medleyTargets NAMESPACE medley:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
