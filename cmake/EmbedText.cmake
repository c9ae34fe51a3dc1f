# Turns text files into a C++ source that defines a string for each; run as a script:
#   cmake -DOUTPUT=x.cpp -DNAMESPACE=a::b [-DTABLE=SYMBOL] -P EmbedText.cmake SYMBOL=FILE...
# Defines const char* const <NAMESPACE>::<SYMBOL>, and with TABLE an array of names and texts in turns, at the end of
# which a nullptr is.
set(source "// Made from text files at build time.\nnamespace ${NAMESPACE} {\n")
set(table)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 1 ${last})
  if(NOT CMAKE_ARGV${i} MATCHES "^([A-Za-z0-9_]+)=(.*)$")
    continue()  # what comes before the files; -DOUTPUT=x.cpp begins with a dash
  endif()
  set(symbol "${CMAKE_MATCH_1}")
  set(file "${CMAKE_MATCH_2}")
  file(READ "${file}" text)
  string(FIND "${text}" ")NWTEXT\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} contains the delimiter of the raw string that embeds it")
  endif()
  string(APPEND source
    "extern const char* const ${symbol};\n"
    "const char* const ${symbol} = R\"NWTEXT(${text})NWTEXT\";\n")
  get_filename_component(name "${file}" NAME)
  string(APPEND table "  \"${name}\", ${symbol},\n")
endforeach()
if(TABLE)
  string(APPEND source
    "extern const char* const ${TABLE}[];\nconst char* const ${TABLE}[] = {\n${table}  nullptr};\n")
endif()
file(WRITE "${OUTPUT}" "${source}}  // namespace ${NAMESPACE}\n")
