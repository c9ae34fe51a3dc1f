# Makes a source from the list of a library's names; run as a script:
#   cmake -DINPUT=names.txt -DOUTPUT=stubs.cpp -DREPORT=function -DFLAG=variable -P GenerateStubs.cmake
# Every name gets a weak definition, which gives way to the library's own: NAME_ptsz and NAME_ptds
# note in FLAG that stream 0 is the thread's own and go on to NAME, all others report themselves as
# not supported, by calling REPORT with their name. Where names are followed by the version of CUDA
# that they came with (12010 for 12.1), there is a table of all of them, too.
file(STRINGS "${INPUT}" lines)
set(text "// Made from a list of names at build time.\n")
string(APPEND text "extern \"C\" int ${REPORT}(const char* name);\nextern \"C\" {\n")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^[A-Za-z0-9_]+" name "${line}")
  if(line MATCHES " ([0-9]+)$")
    string(APPEND table "  {\"${name}\", ${CMAKE_MATCH_1}, reinterpret_cast<void*>(&${name})},\n")
  endif()
  if(name MATCHES "^(.*)_pt[sd][sz]$")
    list(APPEND aliases ${name})
    string(APPEND text "int ${name}();\n")
  else()
    string(APPEND text "__attribute__((weak, visibility(\"default\"))) int ${name}() { return ${REPORT}(\"${name}\"); }\n")
  endif()
endforeach()
string(APPEND text "}\n")
foreach(name IN LISTS aliases)
  string(REGEX REPLACE "_pt[sd][sz]$" "" base ${name})
  string(APPEND text "asm(\".text\\n.weak ${name}\\n.type ${name}, @function\\n${name}: movq ${FLAG}@gottpoff(%rip), %r11\\n movb $1, %fs:(%r11)\\n jmp ${base}@PLT\\n.size ${name}, .-${name}\\n\");\n")
endforeach()
if(table)
  string(APPEND text "#include \"host/functional/cudriver/api/entry_points.h\"\nconst nearwarp::cudriver::EntryPoint nw_entry_points[] = {\n${table}  {nullptr, 0, nullptr}};\n")
endif()
file(WRITE "${OUTPUT}" "${text}")
