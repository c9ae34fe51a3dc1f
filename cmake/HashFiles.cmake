# Turns the contents of files into a C++ source that defines one hash of them all; run as a script:
#   cmake -DOUTPUT=x.cpp -DNAMESPACE=a::b -DSYMBOL=name -P HashFiles.cmake FILE...
# Defines const char* const <NAMESPACE>::<SYMBOL>.
set(all "")
set(files_begin 0)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(files_begin)
    file(SHA256 "${CMAKE_ARGV${i}}" hash)
    string(APPEND all "${hash}")
  elseif(CMAKE_ARGV${i} MATCHES "HashFiles\\.cmake$")
    set(files_begin 1)
  endif()
endforeach()
string(SHA256 hash "${all}")
file(WRITE "${OUTPUT}"
  "// Made from the contents of source files at build time.\n"
  "namespace ${NAMESPACE} {\n"
  "extern const char* const ${SYMBOL};\n"
  "const char* const ${SYMBOL} = \"${hash}\";\n"
  "}  // namespace ${NAMESPACE}\n")
