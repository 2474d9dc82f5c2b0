# cmake -DSOURCE=FILE.cu -DOUTPUT=FILE.cpp -P cuda_launches.cmake: launches of kernels, kernel<<<grid, ...>>>(...), become
# calls of a function, card_launch(kernel, grid, ...)(...), which compilers of C++ understand.
file(READ ${SOURCE} text)
string(REGEX REPLACE "([A-Za-z_][A-Za-z_0-9]*(<[^<>]*>)?)<<<" "card_launch(\\1, " text "${text}")
string(REPLACE ">>>" ")" text "${text}")
file(WRITE ${OUTPUT} "#line 1 \"${SOURCE}\"\n${text}")
