# sage_embed_files(<target> <symbol> FILES <file>...)
#
# Makes sage::<symbol>() available to the target: a table of (name, text) of the given files, name without folder, as
# declared in probes/base/embedded.hpp. The texts are compiled in, so that an installed binary needs no data files.
# The assembler brings the bytes in (.incbin): as text of C++ a megabyte would take seconds to compile.

set(SAGE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

function(sage_embed_files target symbol)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "FILES")
  set(inputs)
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(path "${file}" ABSOLUTE)
    list(APPEND inputs "${path}")
  endforeach()
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DSYMBOL=${symbol}" "-DINPUTS=${inputs}" -P "${SAGE_EMBED_SCRIPT}"
    DEPENDS ${inputs} "${SAGE_EMBED_SCRIPT}"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  set_source_files_properties("${output}" PROPERTIES OBJECT_DEPENDS "${inputs}")
endfunction()
