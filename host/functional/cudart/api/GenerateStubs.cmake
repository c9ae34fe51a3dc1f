# Makes an assembly source from the list of the runtime library's names; run as a script:
#   cmake -DINPUT=names.txt -DOUTPUT=stubs.cpp -P GenerateStubs.cmake
# Every name gets a weak definition, which gives way to the library's own: NAME_ptsz and NAME_ptds
# note that stream 0 is the thread's own and go on to NAME, all others report themselves as not
# supported.
file(STRINGS "${INPUT}" names)
set(text "// Made from the list of the CUDA runtime library's names at build time.\n")
string(APPEND text "extern \"C\" int nw_cudart_not_supported(const char* name);\nextern \"C\" {\n")
foreach(name IN LISTS names)
  if(name MATCHES "^(.*)_pt[sd][sz]$")
    list(APPEND aliases ${name})
  else()
    string(APPEND text "__attribute__((weak, visibility(\"default\"))) int ${name}() { return nw_cudart_not_supported(\"${name}\"); }\n")
  endif()
endforeach()
string(APPEND text "}\n")
foreach(name IN LISTS aliases)
  string(REGEX REPLACE "_pt[sd][sz]$" "" base ${name})
  string(APPEND text "asm(\".text\\n.weak ${name}\\n.type ${name}, @function\\n${name}: movq nw_cudart_null_is_of_thread@gottpoff(%rip), %r11\\n movb $1, %fs:(%r11)\\n jmp ${base}@PLT\\n.size ${name}, .-${name}\\n\");\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
