# Writes OUTPUT: the files of the list INPUTS as sage::SYMBOL(). Run by sage_embed_files().
set(blobs "")
set(declarations "")
set(rows "")
set(index 0)
foreach(input IN LISTS INPUTS)
  get_filename_component(name "${input}" NAME)
  string(REGEX REPLACE "([\\\\\"])" "\\\\\\1" quoted "${input}")
  set(label "${SYMBOL}_${index}")
  string(APPEND blobs
    "asm(\".pushsection .rodata\\n${label}_begin: .incbin \\\"\" R\"(${quoted})\" \"\\\"\\n${label}_end: .byte 0\\n.popsection\\n\");\n")
  string(APPEND declarations "extern const char ${label}_begin[];\nextern const char ${label}_end[];\n")
  string(APPEND rows "    EmbeddedFile{\"${name}\", {${label}_begin, ${label}_end}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUTPUT}"
"#include \"probes/base/embedded.hpp\"

#include <array>

${blobs}
extern \"C\" {
${declarations}}

namespace sage {

std::span<const EmbeddedFile> ${SYMBOL}() {
  static const std::array<EmbeddedFile, ${index}> files = {
${rows}};
  return files;
}

}  // namespace sage
")
