// Where may a compiler for AMD GPUs lie? There is no registry to ask: every way of installing has folders of its own
// (facts/wheels.md 2.1 to 2.4), and only few of them are in PATH. Names are tried one by one instead of listing
// folders: a capture must not hold what else is in somebody's /usr/local/bin.

#include "probes/compilers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "probes/library_places.hpp"
#include "probes/look.hpp"
#include "probes/search_path.hpp"

namespace sage {
namespace {

struct ProgramName {
  const char* name;
  CompilerKind kind;
};

// amdclang++ comes before clang++: where both are one file, the name that says AMD tells more.
constexpr auto program_names = std::to_array<ProgramName>({
    {"hipcc", CompilerKind::hipcc},
    {"amdclang++", CompilerKind::amdclang},
    {"clang++", CompilerKind::clang},
    {"nvcc", CompilerKind::nvcc},
});

/// Releases of LLVM that are looked for by number. Before 14 no target that matters here was known.
constexpr int oldest_llvm = 14;
constexpr int newest_llvm = 26;

constexpr auto distribution_libraries =
    std::to_array<const char*>({"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"});

struct LibraryName {
  const char* stem;
  CompilerKind kind;
  std::array<const char*, 5> suffixes;
};

/// With the SONAME majors of facts/wheels.md 2.6.
constexpr auto library_names = std::to_array<LibraryName>({
    {"libhiprtc.so", CompilerKind::hiprtc, {"", ".7", ".6", ".5", ".8"}},
    {"libamd_comgr.so", CompilerKind::comgr, {"", ".3", ".2", ".1", ".4"}},
});

/// Before hipRTC became a library of its own in every package, it was in the runtime; Debian's 5.2 still has it there.
constexpr auto runtime_names = std::to_array<const char*>({"libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6"});

void add_tree(const Host& host, const std::string& folder, ToolchainOrigin origin, std::vector<CompilerTree>& trees) {
  if (!folder.starts_with('/') || !is_folder(host, folder)) return;
  const std::string canonical = host.canonical(folder).value_or(folder);
  const bool known = std::any_of(trees.begin(), trees.end(),
                                 [&](const CompilerTree& tree) { return tree.folder == canonical; });
  if (!known) trees.push_back({canonical, origin});
}

void add_cuda_trees(const Host& host, std::vector<CompilerTree>& trees) {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    add_tree(host, variable_of(host, name), ToolchainOrigin::cuda_toolkit, trees);
  }
  add_tree(host, "/usr/local/cuda", ToolchainOrigin::cuda_toolkit, trees);
  add_tree(host, "/opt/cuda", ToolchainOrigin::cuda_toolkit, trees);
}

/// Packages of spack that have a compiler or hipRTC in them. Their folders are named
/// <package>-<version>-<hash>, two or three levels below opt/spack: <architecture>[/<compiler>].
constexpr auto spack_packages = std::to_array<std::string_view>({"hip-", "hipcc-", "llvm-amdgpu-", "comgr-", "llvm-"});
constexpr std::size_t most_spack_folders = 16;
constexpr std::size_t most_spack_trees = 64;

bool is_spack_package(const std::string& name) {
  return std::any_of(spack_packages.begin(), spack_packages.end(), [&](std::string_view package) {
    return name.starts_with(package) && name.size() > package.size() && name[package.size()] >= '0' &&
           name[package.size()] <= '9';
  });
}

/// The packages in `folder`, or where it has none, in the folders in it.
void add_spack_packages(const Host& host, const std::string& folder, int levels, std::vector<CompilerTree>& trees) {
  const auto names = host.list_folder(folder).value_or({});
  std::size_t folders = 0;
  for (const std::string& name : names) {
    if (trees.size() >= most_spack_trees) return;
    if (is_spack_package(name)) {
      add_tree(host, folder + "/" + name, ToolchainOrigin::spack, trees);
    } else if (levels > 1 && !name.starts_with('.') && ++folders <= most_spack_folders) {
      add_spack_packages(host, folder + "/" + name, levels - 1, trees);
    }
  }
}

/// spack clones itself into the home folder by default.
void add_spack_trees(const Host& host, std::vector<CompilerTree>& trees) {
  std::string root = variable_of(host, "SPACK_ROOT");
  if (const std::string home = host.process().home; root.empty() && home.starts_with('/')) root = home + "/spack";
  if (root.starts_with('/')) add_spack_packages(host, root + "/opt/spack", 3, trees);
}

class CompilerList {
 public:
  explicit CompilerList(const Host& host) : host_(host) {}

  /// Adds what `path` leads to, unless that file is known under another name.
  void add(const std::string& path, CompilerKind kind) {
    auto identity = identify(host_, path);
    if (!identity) return;
    const bool known = std::any_of(identities_.begin(), identities_.end(),
                                   [&](const FileIdentity& other) { return other.same_as(*identity); });
    if (known) return;
    list_.push_back({path, identity->canonical, kind});
    identities_.push_back(std::move(identity).value());
  }

  void add_programs(const std::string& folder) {
    for (const auto& [name, kind] : program_names) add(folder + "/" + name, kind);
  }

  void add_numbered_clangs(const std::string& folder) {
    for (int version = newest_llvm; version >= oldest_llvm; --version) {
      add(folder + "/clang++-" + std::to_string(version), CompilerKind::clang);
    }
  }

  void add_libraries(const std::string& folder) {
    if (!is_folder(host_, folder)) return;
    bool has_hiprtc = false;
    for (const LibraryName& library : library_names) {
      for (const char* suffix : library.suffixes) {
        const std::string path = folder + "/" + library.stem + suffix;
        if (!is_file(host_, path)) continue;
        has_hiprtc = has_hiprtc || library.kind == CompilerKind::hiprtc;
        add(path, library.kind);
      }
    }
    if (!has_hiprtc) add_runtime_with_hiprtc(folder);
  }

  [[nodiscard]] std::vector<FoundCompiler> take() { return std::move(list_); }

 private:
  void add_runtime_with_hiprtc(const std::string& folder) {
    const std::string symbol = "hiprtcCompileProgram";
    for (const char* name : runtime_names) {
      const std::string path = folder + "/" + name;
      if (!is_file(host_, path)) continue;
      const auto elf = host_.elf(path, ElfQuery{{symbol}, {}});
      if (!elf) continue;
      const auto answer = elf->symbols.find(symbol);
      if (answer != elf->symbols.end() && answer->second) add(path, CompilerKind::hiprtc);
    }
  }

  const Host& host_;
  std::vector<FileIdentity> identities_;
  std::vector<FoundCompiler> list_;
};

void add_tree_compilers(const CompilerTree& tree, CompilerList& list) {
  if (tree.origin == ToolchainOrigin::torch_wheel) return list.add_libraries(tree.folder + "/lib");
  list.add_programs(tree.folder + "/bin");
  if (tree.origin == ToolchainOrigin::cuda_toolkit) return;
  for (const char* llvm : {"/lib/llvm/bin", "/llvm/bin"}) list.add_programs(tree.folder + llvm);
  list.add_libraries(tree.folder + "/lib");
}

}  // namespace

CompilerSources compiler_sources(const Host& host, const std::vector<std::string>& rocm_roots, const Python& python) {
  CompilerSources sources;
  for (const PythonEnvironment& environment : python.environments.value_or({})) {
    sources.environments.push_back(environment.prefix);
    for (const TorchInstall& torch : environment.torch.value_or({})) {
      add_tree(host, torch.folder, ToolchainOrigin::torch_wheel, sources.trees);
    }
    // The expanded devel wheel shares its files with core and has more beside them: it names them.
    std::vector<std::string> folders = environment.sdk_folders.value_or({});
    std::stable_partition(folders.begin(), folders.end(),
                          [](const std::string& folder) { return folder.ends_with("/_rocm_sdk_devel"); });
    for (const std::string& folder : folders) add_tree(host, folder, ToolchainOrigin::rocm_sdk_wheel, sources.trees);
  }
  for (const std::string& root : rocm_roots) add_tree(host, root, ToolchainOrigin::rocm_root, sources.trees);
  for (const PythonEnvironment& environment : python.environments.value_or({})) {
    if (environment.kind.is(PythonKind::conda)) {
      add_tree(host, environment.prefix, ToolchainOrigin::conda, sources.trees);
    }
  }
  add_tree(host, variable_of(host, "CONDA_PREFIX"), ToolchainOrigin::conda, sources.trees);
  add_spack_trees(host, sources.trees);
  add_cuda_trees(host, sources.trees);
  return sources;
}

std::vector<FoundCompiler> find_compilers(const Host& host, const CompilerSources& sources) {
  CompilerList list(host);
  for (const std::string& folder : search_path(host)) list.add_programs(folder);
  for (const std::string& prefix : sources.environments) list.add_programs(prefix + "/bin");
  for (const CompilerTree& tree : sources.trees) add_tree_compilers(tree, list);

  list.add_programs("/usr/bin");
  for (const char* llvm : {"/usr/lib64/rocm/llvm/bin", "/usr/lib/rocm/llvm/bin"}) list.add_programs(llvm);
  for (const std::string& folder : search_path(host)) list.add_numbered_clangs(folder);
  list.add_numbered_clangs("/usr/bin");
  for (int version = newest_llvm; version >= oldest_llvm; --version) {
    list.add("/usr/lib/llvm-" + std::to_string(version) + "/bin/clang++", CompilerKind::clang);
  }
  for (const char* folder : distribution_libraries) list.add_libraries(folder);
  return list.take();
}

}  // namespace sage
