# Installs the command, the library (shared and static) with its headers, pkg-config and CMake package files, manual
# pages and completions.
include(CMakePackageConfigHelpers)

install(TARGETS medley RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS libmedley_shared EXPORT medley_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS libmedley EXPORT medley_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/medley)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1")
install(FILES ${PROJECT_BINARY_DIR}/man/medley.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME medley)
install(FILES ${PROJECT_BINARY_DIR}/man/medley.zsh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _medley)
install(FILES ${PROJECT_BINARY_DIR}/man/medley.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

list(TRANSFORM MEDLEY_NAMED_NEEDS PREPEND "-l" OUTPUT_VARIABLE MEDLEY_PRIVATE_LIBS)
list(JOIN MEDLEY_PRIVATE_LIBS " " MEDLEY_PRIVATE_LIBS)
string(PREPEND MEDLEY_PRIVATE_LIBS "-lm -lz ")
string(APPEND MEDLEY_PRIVATE_LIBS " -pthread -ldl")
# How many folders up from the .pc files the prefix is: one more where libraries lie in lib/x86_64-linux-gnu.
file(RELATIVE_PATH MEDLEY_UP_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" MEDLEY_UP_TO_PREFIX ${MEDLEY_UP_TO_PREFIX})
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
foreach(kind shared static)
  install(EXPORT medley_${kind} NAMESPACE medley:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
endforeach()
