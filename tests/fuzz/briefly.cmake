# A test that fuzzes for a few seconds from the seeds: enough to notice a parser that a small change broke. Finds are
# written below the build folder; a crash there is a failure, and its input belongs into the corpus.
set(SAGE_FUZZ_SECONDS 5 CACHE STRING "How long ctest fuzzes each target")
if(NOT TARGET fuzz)
  add_custom_target(fuzz)
endif()
function(sage_fuzz_briefly target seeds)
  set(finds ${CMAKE_CURRENT_BINARY_DIR}/finds/${target})
  file(MAKE_DIRECTORY ${finds})
  add_dependencies(fuzz ${target})
  add_test(NAME fuzz.${target}
    COMMAND ${target} -max_total_time=${SAGE_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048 -max_len=65536
            -artifact_prefix=${finds}/crash- ${finds} ${seeds})
  set_tests_properties(fuzz.${target} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()
