#include <algorithm>

#include "doctor/report/wrap.hpp"
#include "doctor/toolchain/toolchain_list.hpp"
#include "probes/base/text.hpp"

namespace sage {
namespace {

constexpr std::size_t verdict_width = 12;
const std::string indent(2 + 2 * verdict_width, ' ');

std::string name_of(const Toolchain& compiler) {
  std::string name = compiler.kind.known() ? std::string(enum_name(*compiler.kind)) : "compiler";
  if (compiler.rocm_version.known()) {
    name += (compiler.kind.is(CompilerKind::nvcc) ? " of CUDA " : " of ROCm ") + *compiler.rocm_version;
  }
  const std::string clang = compiler.clang_version.value_or("");
  if (!clang.empty()) name += ", LLVM " + clang;
  if (compiler.origin.known()) name += ", " + std::string(enum_name(*compiler.origin));
  if (compiler.trampoline.is(true)) name += ", script that starts another";
  return name;
}

std::string verdict_word(const Verdict& verdict, bool chosen) {
  return left_aligned(std::string(enum_name(verdict.can)) + (chosen ? " *" : ""), verdict_width);
}

std::string reason(std::string_view purpose, const Verdict& verdict, std::size_t width) {
  return wrapped(printable(std::string(purpose) + ": " + verdict.reason), indent, indent + "  ", width);
}

std::string row_text(const ToolchainRow& row, bool with_verdicts, std::size_t width) {
  const std::string name = printable(name_of(*row.compiler));
  if (!with_verdicts) {
    return wrapped(name, "  ", "    ", width) + "    " + printable(row.compiler->path) + "\n";
  }
  std::string text = wrapped(name,
                             "  " + verdict_word(row.kernels, row.chosen_for_kernels) +
                                 verdict_word(row.extensions, row.chosen_for_extensions),
                             indent, width);
  text += indent + printable(row.compiler->path) + "\n";
  if (row.kernels.can != CanBuild::yes) text += reason("kernels", row.kernels, width);
  if (row.extensions.can != CanBuild::yes && row.extensions.reason != row.kernels.reason) {
    text += reason("extensions", row.extensions, width);
  }
  return text;
}

std::string home_text(const TorchRocmHome& home, std::size_t width) {
  std::string text = "  " + printable(home.torch_folder) + "\n";
  if (!home.path.known())
    return text + wrapped(printable("unknown: " + home.path.why_unknown().text), "    ", "    ", width);
  if (!home.path->has_value()) {
    return text + wrapped("None: it finds no ROCm to build with; to run, none is needed", "    ", "    ", width);
  }
  const std::string headers = home.has_headers.is(true) ? "" : ", which has no HIP headers";
  const std::string path = (*home.path)->empty() ? "an empty text" : **home.path;
  return text + wrapped(printable(path + " (by " + home.rule.value_or("?") + ")" + headers), "    ", "    ", width);
}

std::string triton_text(const TritonInstall& triton, std::size_t width) {
  std::string parts = "Triton " + triton.version.value_or("of unknown version");
  if (!triton.bitcode.known()) {
    parts += ", device libraries unknown";
  } else {
    parts += triton.bitcode->empty() ? ", no device libraries" : ", " + join(*triton.bitcode, " ");
  }
  if (triton.starts_linker.is(false)) parts += ", links by itself";
  if (triton.starts_linker.is(true)) {
    const std::string linker = triton.linker.value_or("unknown");
    parts += ", linker " + (linker.empty() ? "missing" : linker);
  }
  return "  " + printable(triton.folder) + "\n" + wrapped(printable(parts), "    ", "    ", width);
}

std::string homes_and_tritons(const ToolchainList& list, std::size_t width) {
  std::string text;
  if (!list.rocm_homes.empty()) text += "\nROCM_HOME as PyTorch finds it\n";
  for (const TorchRocmHome* home : list.rocm_homes) text += home_text(*home, width);
  if (!list.tritons.empty()) text += "\nWhat Triton compiles its own kernels with\n";
  for (const TritonInstall* triton : list.tritons) text += triton_text(*triton, width);
  return text;
}

}  // namespace

std::string toolchain_text(const ToolchainList& list, std::size_t width) {
  const bool judged = !list.target.empty();
  std::string text =
      judged ? wrapped("Compilers for " + printable(list.target) + " (" + list.target_source + ")", "", "", width)
             : wrapped("Compilers (" + list.target_source + ")", "", "", width);
  if (!list.unknown.empty()) {
    text += wrapped(printable("unknown: " + list.unknown), "  ", "  ", width);
  } else if (list.rows.empty()) {
    text += "  none was found; to run PyTorch none is needed\n";
  } else if (judged) {
    text += "\n  " + left_aligned("kernels", verdict_width) + left_aligned("extensions", verdict_width) + "compiler\n";
  }
  bool chosen = false;
  for (const ToolchainRow& row : list.rows) {
    text += row_text(row, judged, width);
    chosen = chosen || row.chosen_for_kernels || row.chosen_for_extensions;
  }
  if (judged && !list.rows.empty()) {
    text += "\n" + wrapped(std::string(chosen ? "* the one to take. " : "None of them will do. ") +
                               "Judged by files and tables; check --deep tries them.",
                           "  ", "  ", width);
  }
  return text + homes_and_tritons(list, width);
}

}  // namespace sage
