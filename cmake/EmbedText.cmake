# Turns a text file into a C++ source that defines a string; run as a script:
#   cmake -DINPUT=x.ptx -DOUTPUT=x.cpp -DSYMBOL=name [-DNAMESPACE=a::b] -P EmbedText.cmake
# Defines <NAMESPACE>::<SYMBOL>; the namespace is nearwarp::workloads::embedded if none is given.
if(NOT DEFINED NAMESPACE)
  set(NAMESPACE nearwarp::workloads::embedded)
endif()
file(READ "${INPUT}" text)
string(FIND "${text}" ")NWTEXT\"" clash)
if(NOT clash EQUAL -1)
  message(FATAL_ERROR "${INPUT} contains the delimiter of the raw string that embeds it")
endif()
file(WRITE "${OUTPUT}"
  "// Made from a text file at build time.\n"
  "namespace ${NAMESPACE} {\n"
  "extern const char* const ${SYMBOL};\n"
  "const char* const ${SYMBOL} = R\"NWTEXT(${text})NWTEXT\";\n"
  "}  // namespace ${NAMESPACE}\n")
