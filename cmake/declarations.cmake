# Writes a C file that defines medley_declarations(): the text of the public headers without comments and
# preprocessor lines, one declaration per line, each header after those it includes.
#   cmake -DHEADERS=include/medley -DOUTPUT=declarations.c -P declarations.cmake
# With -DOUTPUT=declarations.h the text itself is written.
cmake_minimum_required(VERSION 3.21)
set(text "")
set(seen "")
macro(take name) # a macro: text and seen are one for all
  if(NOT "${name}" IN_LIST seen)
    list(APPEND seen "${name}")
    file(STRINGS "${HEADERS}/${name}" includes_${name} REGEX "^#include \"medley/")
    foreach(line IN LISTS includes_${name})
      string(REGEX REPLACE "^#include \"medley/(.*)\"$" "\\1" included "${line}")
      take("${included}")
    endforeach()
    file(READ "${HEADERS}/${name}" content)
    string(REGEX REPLACE "/[*]([^*]|[*]+[^*/])*[*]+/" "" content "${content}")
    string(APPEND text "${content}")
  endif()
endmacro()
take("medley.h")

string(REGEX REPLACE "#ifdef __cplusplus\n[^#]*#endif" "" text "${text}")
string(REGEX REPLACE "#([^\n]*\\\\\n)*[^\n]*\n" "" text "${text}")
string(REGEX REPLACE "MEDLEY_(API|CHECKED)[ \n]" "" text "${text}")
string(REGEX REPLACE "[ \n]+" " " text "${text}")
string(REPLACE "( " "(" text "${text}")
string(REGEX REPLACE "; (typedef|[a-z_0-9 *]*medley_[a-z_0-9]+[(])" ";\n\\1" text "${text}")
string(STRIP "${text}" text)
if(NOT text MATCHES "medley_status medley_fit[(]" OR text MATCHES "[#\"\\\\]")
  message(FATAL_ERROR "the public headers hold something that cmake/declarations.cmake does not understand")
endif()
if(OUTPUT MATCHES "[.]h$")
  file(WRITE "${OUTPUT}" "${text}\n")
  return()
endif()
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE "${OUTPUT}" "/* SPDX-License-Identifier: BSD-3-Clause */
/* Made from the public headers by cmake/declarations.cmake. */
#include \"medley/options.h\"

const char *medley_declarations(void)
{
    return \"${text}\\n\";
}
")
