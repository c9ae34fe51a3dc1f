# Runs PROGRAM, which counts what it executes into the file COUNTED, and copies that to PROFILE.
file(REMOVE ${COUNTED})
foreach(run "vector-add;bench80;baseline" "gather;bench80;baseline" "kmeans;tom;baseline"
    "libor;tom;baseline" "libor;tom;tom")
  list(GET run 0 workload)
  list(GET run 1 machine)
  list(GET run 2 policy)
  execute_process(
    COMMAND ${PROGRAM} run ${workload} --size small --machine ${machine} --policy ${policy}
      --threads 1 --backend cpu
    OUTPUT_QUIET ERROR_VARIABLE said RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} run ${workload} failed (${result}): ${said}")
  endif()
endforeach()
configure_file(${COUNTED} ${PROFILE} COPYONLY)
