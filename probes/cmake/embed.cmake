# Writes OUTPUT: the files of the list INPUTS as sage::SYMBOL(). Run by sage_embed_files().
set(arrays "")
set(rows "")
set(index 0)
foreach(input IN LISTS INPUTS)
  get_filename_component(name "${input}" NAME)
  file(READ "${input}" hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char file_${index}[] = {${bytes}'\\0'};\n")
  string(APPEND rows "    EmbeddedFile{\"${name}\", std::string_view(file_${index}, sizeof(file_${index}) - 1)},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUTPUT}"
"#include \"probes/base/embedded.hpp\"

#include <array>

namespace sage {
namespace {

${arrays}
constexpr std::array<EmbeddedFile, ${index}> files = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> ${SYMBOL}() { return files; }

}  // namespace sage
")
