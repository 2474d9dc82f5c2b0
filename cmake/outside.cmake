# Plug-ins that are not in the tree, for a test that shows how little they need: a file each in
# tests/outside, and these lines. The registries are compiled anew with tables that have one line
# more; everything else is the library as it is.
set(OUTSIDE_TABLES ${PROJECT_BINARY_DIR}/outside)
function(outside_line table line)
  file(READ ${PROJECT_SOURCE_DIR}/src/${table} rows)
  file(CONFIGURE OUTPUT ${OUTSIDE_TABLES}/${table} CONTENT "${rows}${line}\n" @ONLY)
endfunction()
outside_line(task/tasks.def "MD_TASK(lead)")
outside_line(structure/structures.def "MD_STRUCTURE(lead)")
outside_line(online/rules.def "MD_RULE(stepwise)")
outside_line(penalty/penalties.def "MD_PENALTY(firm)")
outside_line(settings/options.def
  "MD_OPTION(least_rows, INT, \"least-rows\", \"0\", \"N\", .help = \"rows of a sequence at least\")")

file(GLOB OUTSIDE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/outside/*_*.c)
add_library(outside_tables OBJECT ${OUTSIDE_SOURCES}
            src/task/tasks.c src/structure/structure.c src/online/rules.c src/penalty/penalty.c
            src/settings/options.c src/fit/methods.c)
target_include_directories(outside_tables PRIVATE ${OUTSIDE_TABLES} ${PROJECT_SOURCE_DIR}/src
                           ${PROJECT_SOURCE_DIR}/include ${CBLAS_INCLUDE_DIR})
target_compile_definitions(outside_tables PRIVATE MEDLEY_BUILDING MEDLEY_VERSION="${PROJECT_VERSION}")
foreach(source outside/outside laws/test_rule_laws laws/test_structure_laws laws/test_penalty_laws
        laws/test_penalty_prox laws/test_loss_laws)
  get_filename_component(name ${source} NAME)
  string(REPLACE "test_" "outside_" name ${name})
  add_executable(${name} tests/${source}.c $<TARGET_OBJECTS:outside_tables>)
  target_include_directories(${name} PRIVATE ${OUTSIDE_TABLES} ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_SOURCE_DIR}/tests ${CBLAS_INCLUDE_DIR})
  target_compile_definitions(${name} PRIVATE MEDLEY_OUTSIDE)
  target_link_libraries(${name} PRIVATE medley_cli ${CMOCKA_LIBRARY} ZLIB::ZLIB m)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endforeach()
