#include "probes/toolchains.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/base/text.hpp"
#include "probes/build_tools.hpp"
#include "probes/compiler_parts.hpp"
#include "probes/compilers.hpp"
#include "probes/library_places.hpp"
#include "probes/look.hpp"
#include "probes/rocm_version.hpp"
#include "probes/search_path.hpp"
#include "probes/torch_rocm_home.hpp"

namespace sage {
namespace {

/// Trampolines are a few lines; what is longer is a program or another script.
constexpr std::uint64_t trampoline_cap = 4096;

bool is_library(CompilerKind kind) {
  return kind == CompilerKind::hiprtc || kind == CompilerKind::comgr;
}

/// A Python console script of the wheel rocm-sdk-core (facts/wheels.md 2.4).
Fact<bool> is_trampoline(const Host& host, const FoundCompiler& found) {
  if (is_library(found.kind) || found.kind == CompilerKind::nvcc) return false;
  const auto status = host.status(found.canonical);
  if (!status) return Fact<bool>::unknown(status.error());
  if (status->size > trampoline_cap) return false;
  const auto text = host.read_file(found.canonical, trampoline_cap);
  if (!text) return status->size == 0 ? Fact<bool>(false) : Fact<bool>::unknown(text.error());
  return text->starts_with("#!") && contains(*text, "rocm_sdk_core");
}

struct Owner {
  ToolchainOrigin origin = ToolchainOrigin::other;
  std::string root;
};

/// What stands before the last /bin/, /lib/ or /lib64/.
std::string prefix_of(const std::string& path) {
  std::size_t best = std::string::npos;
  for (const char* part : {"/bin/", "/lib/", "/lib64/"}) {
    const std::size_t at = path.rfind(part);
    if (at != std::string::npos && (best == std::string::npos || at > best)) best = at;
  }
  return best == std::string::npos ? parent_folder(path) : path.substr(0, best);
}

/// The tree of an expanded devel wheel, else of core: that is where trampolines lead (facts/wheels.md 2.4).
Owner owner_of_trampoline(const std::string& path, const CompilerSources& sources, const Python& python) {
  Owner owner{ToolchainOrigin::rocm_sdk_wheel, ""};
  const std::string prefix = prefix_of(path);
  for (const PythonEnvironment& environment : python.environments.value_or({})) {
    if (environment.prefix != prefix) continue;
    const bool expanded = environment.devel.is(DevelState::expanded);
    for (const std::string& folder : environment.sdk_folders.value_or({})) {
      if (file_name(folder) == (expanded ? "_rocm_sdk_devel" : "_rocm_sdk_core")) owner.root = folder;
    }
  }
  if (!owner.root.empty()) return owner;
  for (const CompilerTree& tree : sources.trees) {
    const std::string name = file_name(tree.folder);
    if (tree.origin == ToolchainOrigin::rocm_sdk_wheel && (name == "_rocm_sdk_core" || name == "_rocm_sdk_devel")) {
      owner.root = tree.folder;
      break;
    }
  }
  return owner;
}

Owner owner_of(const Host& host, const FoundCompiler& found, const CompilerSources& sources) {
  const CompilerTree* best = nullptr;
  for (const CompilerTree& tree : sources.trees) {
    const bool inside = lies_in(found.canonical, tree.folder) || lies_in(found.path, tree.folder);
    if (inside && (best == nullptr || tree.folder.size() > best->folder.size())) best = &tree;
  }
  const std::string prefix = prefix_of(found.canonical);
  if (best != nullptr && best->origin == ToolchainOrigin::spack) return {ToolchainOrigin::spack, best->folder};
  for (const std::string& path : {found.path, found.canonical}) {
    if (contains(path, "/spack/")) return {ToolchainOrigin::spack, prefix};
  }
  if (best != nullptr) return {best->origin, best->folder};
  const bool local = lies_in(found.canonical, "/usr/local");
  const bool packaged = lies_in(found.canonical, "/usr") && !local;
  if (packaged) {
    // A plain clang works from its own folder; hipcc and the libraries belong to the whole system.
    return {ToolchainOrigin::distribution, found.kind == CompilerKind::clang ? prefix : "/usr"};
  }
  if (found.kind == CompilerKind::nvcc && is_file(host, prefix + "/bin/ptxas")) {
    return {ToolchainOrigin::cuda_toolkit, prefix};
  }
  return {ToolchainOrigin::other, prefix};
}

/// "13.0" of /usr/local/cuda-13.0; else by version.json, whose first "version" below "cuda" is the toolkit's.
SourcedVersion version_of_cuda(const Host& host, const std::string& root) {
  const std::string file = root + "/version.json";
  if (const auto text = host.read_file(file)) {
    const std::size_t cuda = text->find("\"cuda\"");
    const std::size_t key = cuda == std::string::npos ? cuda : text->find("\"version\"", cuda);
    const std::size_t begin = key == std::string::npos ? key : text->find_first_of("0123456789}", key);
    if (begin != std::string::npos && (*text)[begin] != '}') {
      const std::size_t end = std::min(text->find_first_not_of("0123456789.", begin), text->size());
      return {text->substr(begin, end - begin), file};
    }
  }
  const std::string name = file_name(root);
  constexpr std::string_view prefix = "cuda-";
  if (name.starts_with(prefix) && name.size() > prefix.size()) return {name.substr(prefix.size()), root};
  const Error why{0, root + ": neither version.json nor its name tells the version"};
  return {Fact<std::string>::unknown(why), Fact<std::string>::unknown(why)};
}

/// "6.2.4" of .../hip-6.2.4-ekjf4lbd...: ROCm's packages have its version, the plain llvm has another.
std::string version_of_spack(const std::string& root) {
  const std::string name = file_name(root);
  if (name.starts_with("llvm-") && !name.starts_with("llvm-amdgpu-")) return "";
  const std::size_t last = name.rfind('-');
  const std::size_t before = last == std::string::npos || last == 0 ? last : name.rfind('-', last - 1);
  if (before == std::string::npos) return "";
  std::string version = name.substr(before + 1, last - before - 1);
  return version.find_first_not_of("0123456789.") == std::string::npos ? version : "";
}

SourcedVersion version_of(const Host& host, const Toolchain& compiler) {
  const std::string root = *compiler.root;
  if (compiler.kind.is(CompilerKind::nvcc)) return version_of_cuda(host, root);
  const bool plain_clang = compiler.kind.is(CompilerKind::clang) && compiler.origin.is(ToolchainOrigin::distribution);
  if (root.empty() || plain_clang) {
    const Error why{0, "it belongs to no ROCm tree"};
    return {Fact<std::string>::unknown(why), Fact<std::string>::unknown(why)};
  }
  if (compiler.origin.is(ToolchainOrigin::torch_wheel)) return version_of_torch(host, root);
  if (compiler.origin.is(ToolchainOrigin::spack)) {
    if (std::string version = version_of_spack(root); !version.empty()) return {std::move(version), root};
  }
  SourcedVersion version = compiler.origin.is(ToolchainOrigin::rocm_sdk_wheel) ? version_of_sdk(host, root)
                                                                              : version_of_tree(host, root);
  return version.version.known() ? version : version_by_hip(host, root);
}

/// A library that compiles by itself: everything but LLVM is inside (facts/wheels.md 2.11). Beside a fat wheel Triton
/// has headers and device libraries for those who want them (2.7).
void describe_library(const Host& host, Toolchain& compiler) {
  compiler.clang = std::string();
  compiler.clang_version = llvm_behind_library(host, compiler.path);
  compiler.linker = compiler.bundler = std::string();
  compiler.device_libraries = std::string();
  compiler.device_targets = Fact<std::vector<std::string>>::unknown("the device libraries are inside libamd_comgr");
  std::string include = hip_headers_in(host, {*compiler.root});
  if (compiler.origin.is(ToolchainOrigin::torch_wheel)) {
    include = hip_headers_in(host, {parent_folder(*compiler.root) + "/triton/backends/amd"});
  }
  compiler.headers = library_headers_in(host, include);
  compiler.hip_headers = std::move(include);
}

void describe_nvcc(Toolchain& compiler) {
  compiler.clang = compiler.clang_version = compiler.linker = compiler.bundler = std::string();
  compiler.device_libraries = compiler.hip_headers = std::string();
  compiler.device_targets = compiler.headers = std::vector<std::string>();
}

void describe_program(const Host& host, Toolchain& compiler, const std::vector<std::string>& rocm_roots) {
  const bool wrapper = compiler.kind.is(CompilerKind::hipcc) || compiler.trampoline.is(true);
  compiler.clang = wrapper ? clang_behind_hipcc(host, *compiler.canonical, *compiler.root)
                           : Fact<std::string>(compiler.path);
  if (compiler.clang.known()) {
    compiler.clang_version = clang_version_of(host, *compiler.clang);
    compiler.linker = helper_of_clang(host, *compiler.clang, {"lld", "ld.lld"});
    compiler.bundler = helper_of_clang(host, *compiler.clang, {"clang-offload-bundler"});
  } else {
    const Error& why = compiler.clang.why_unknown();
    compiler.clang_version = compiler.linker = compiler.bundler = Fact<std::string>::unknown(why);
  }
  std::vector<std::string> trees = rocm_trees_of(host, compiler, rocm_roots);
  DeviceLibraries libraries = device_libraries_of(host, compiler, trees);
  compiler.device_libraries = std::move(libraries.folder);
  compiler.device_targets = std::move(libraries.targets);
  trees.push_back("/usr");  // /usr/include is searched in any case
  std::string include = hip_headers_in(host, trees);
  compiler.headers = library_headers_in(host, include);
  compiler.hip_headers = std::move(include);
}

Fact<bool> on_path(const Host& host, const FoundCompiler& found) {
  if (is_library(found.kind)) return false;
  const Fact<std::string> first = find_in_path(host, std::string(enum_name(found.kind)));
  if (!first.known()) return Fact<bool>::unknown(first.why_unknown());
  return !first->empty() && host.canonical(*first).value_or(*first) == found.canonical;
}

Toolchain describe(const Host& host, const FoundCompiler& found, const CompilerSources& sources,
                   const std::vector<std::string>& rocm_roots, const Python& python) {
  Toolchain compiler;
  compiler.path = found.path;
  compiler.canonical = found.canonical;
  compiler.kind = found.kind;
  compiler.trampoline = is_trampoline(host, found);
  compiler.on_path = on_path(host, found);
  Owner owner = compiler.trampoline.is(true) ? owner_of_trampoline(found.path, sources, python)
                                             : owner_of(host, found, sources);
  compiler.origin = owner.origin;
  compiler.root = std::move(owner.root);
  SourcedVersion version = version_of(host, compiler);
  compiler.rocm_version = std::move(version.version);
  compiler.version_source = std::move(version.source);
  if (is_library(found.kind)) {
    describe_library(host, compiler);
  } else if (found.kind == CompilerKind::nvcc) {
    describe_nvcc(compiler);
  } else {
    describe_program(host, compiler, rocm_roots);
  }
  return compiler;
}

}  // namespace

Toolchains probe_toolchains(const Host& host, const ProbeOptions& options, const Python& python) {
  std::vector<std::string> roots;
  for (const LibraryPlace& root : rocm_roots(host, options).value_or({})) roots.push_back(root.folder);
  const CompilerSources sources = compiler_sources(host, roots, python);

  std::vector<Toolchain> compilers;
  for (const FoundCompiler& found : find_compilers(host, sources)) {
    compilers.push_back(describe(host, found, sources, roots, python));
  }
  Toolchains facts;
  facts.compilers = std::move(compilers);
  facts.named_device_libraries = named_device_libraries(host);
  facts.torch_rocm_homes = find_torch_rocm_homes(host, python);
  facts.build_tools = find_build_tools(host, python);
  facts.cxx_headers = find_cxx_headers(host);
  return facts;
}

}  // namespace sage
