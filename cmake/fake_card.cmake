# A plug-in for cards that needs none (tests/device/fake_card.c): under the name of the real one, in a folder of its own,
# which tests name in MEDLEY_PLUGINS.
add_library(fake_card MODULE tests/device/fake_card.c tests/device/fake_bank.c tests/device/fake_scores.c
            tests/device/fake_matrices.c)
target_compile_definitions(fake_card PRIVATE MEDLEY_VERSION="${PROJECT_VERSION}")
target_include_directories(fake_card PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(fake_card PRIVATE m)
set_target_properties(fake_card PROPERTIES PREFIX lib OUTPUT_NAME medley-cuda
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fake_card)
