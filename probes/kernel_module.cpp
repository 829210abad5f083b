// modprobe takes the module from the first of depmod's search places that has it: `updates` (where DKMS and vendors put
// theirs) before the kernel's own tree (depmod.d(5)). Those few places are looked into by name, then the index that
// depmod wrote, so that /lib/modules, which has thousands of files, is never walked. A module that is not found is
// "absent" only where the running kernel's folder could be looked at: containers seldom have it.

#include "probes/kernel_module.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "probes/base/text.hpp"
#include "probes/container.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

constexpr std::string_view in_tree_folder = "kernel/drivers/gpu/drm/amd/amdgpu";

constexpr std::array module_folders = {
    std::string_view("updates/dkms"),
    std::string_view("updates"),
    std::string_view("extra"),
    std::string_view("weak-updates"),
    in_tree_folder,
};

constexpr std::array<std::string_view, 4> module_endings = {"", ".zst", ".xz", ".gz"};

/// modules.dep of a distribution kernel is about 1 MiB, modules.builtin below 100 KiB.
constexpr std::size_t index_cap = 8 * 1024 * 1024;

/// The last bytes of a signed module (linux/module_signature.h).
constexpr std::string_view signature_mark = "~Module signature appended~\n";

struct Search {
  std::string path;  ///< below the modules folder; empty: not found
  bool built_in = false;
  std::optional<Error> error;  ///< something that could not be looked at
};

bool is_module_path(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view ending : module_endings) {
    if (name == "amdgpu.ko" + std::string(ending)) return true;
  }
  return false;
}

/// The entry for amdgpu in modules.dep ("path: dependencies") or modules.builtin ("path"); empty when there is none.
std::string index_entry(const Host& host, const std::string& file, Search& search) {
  const Result<std::string> text = host.read_file(file, index_cap);
  if (!text) {
    if (!is_absent(text.error()) && !search.error) search.error = text.error();
    return {};
  }
  // Most lines are about other modules: look for the name before taking lines apart.
  const std::string name = "/amdgpu.ko";
  for (std::size_t at = text->find(name); at != std::string::npos; at = text->find(name, at + 1)) {
    const std::size_t begin = at == 0 ? 0 : text->rfind('\n', at) + 1;
    std::string_view line(*text);
    line = line.substr(begin, text->find('\n', at) - begin);
    const std::string_view path = trim(line.substr(0, line.find(':')));
    if (is_module_path(path)) return std::string(path);
  }
  return {};
}

Search find_module(const Host& host, const std::string& root) {
  Search search;
  for (const std::string_view folder : module_folders) {
    for (const std::string_view ending : module_endings) {
      const std::string path = std::string(folder) + "/amdgpu.ko" + std::string(ending);
      const Fact<bool> there = exists(host, root + "/" + path);
      if (!there.known() && !search.error) search.error = there.why_unknown();
      if (!there.is(true)) continue;
      search.path = path;
      return search;
    }
  }
  search.built_in = !index_entry(host, root + "/modules.builtin", search).empty();
  if (!search.built_in) search.path = index_entry(host, root + "/modules.dep", search);
  return search;
}

void set_unknown(Driver& driver, const Error& why) {
  driver.module_available = Fact<bool>::unknown(why);
  driver.module_path = Fact<std::string>::unknown(why);
  driver.origin = Fact<ModuleOrigin>::unknown(why);
  driver.module_signed = Fact<bool>::unknown(why);
}

void set_absent(Driver& driver) {
  set_unknown(driver, Error{0, "the running kernel has no amdgpu module"});
  driver.module_available = false;
}

Fact<bool> is_signed(const Host& host, const std::string& path) {
  if (!path.ends_with(".ko")) return Fact<bool>::unknown(path + " is compressed");
  const Result<std::string> end = host.read_file_end(path, signature_mark.size());
  if (!end) return Fact<bool>::unknown(end.error());
  return *end == signature_mark;
}

/// Why "there is no module" can't be said although none was found; nullopt when it can.
std::optional<Error> doubt(const Host& host, const Platform& platform, const Driver& driver, const std::string& root,
                           const Search& search) {
  if (search.error) return search.error;
  if (driver.loaded.is(true)) return Error{0, "amdgpu is loaded, but its file was not found below " + root};
  if (auto hidden = hidden_by_container(platform.container, root)) return hidden;
  // An absent folder beside those of other kernels is the mark of a kernel that was replaced since the last start.
  const Result<std::vector<std::string>> kernels = host.list_folder("/lib/modules");
  if (!kernels) return kernels.error();
  if (kernels->empty()) return Error{0, "/lib/modules is empty"};
  return std::nullopt;
}

}  // namespace

void probe_kernel_module(const Host& host, const Platform& platform, Driver& driver) {
  if (!platform.kernel_release.known()) return set_unknown(driver, platform.kernel_release.why_unknown());
  const std::string& release = *platform.kernel_release;
  if (release.empty() || release == "." || release == ".." || contains(release, "/")) {
    return set_unknown(driver, Error{0, "the kernel release \"" + release + "\" is no folder name"});
  }
  const std::string root = "/lib/modules/" + release;
  const Search search = find_module(host, root);
  if (search.built_in) {
    driver.module_available = true;
    driver.module_path = std::string();
    driver.origin = ModuleOrigin::built_in;
    driver.module_signed = Fact<bool>::unknown("amdgpu is built into the kernel");
    return;
  }
  if (!search.path.empty()) {
    const std::string path = search.path.starts_with('/') ? search.path : root + "/" + search.path;
    driver.module_available = true;
    driver.module_path = path;
    driver.origin = search.path.starts_with("kernel/") ? ModuleOrigin::in_tree : ModuleOrigin::dkms;
    driver.module_signed = is_signed(host, path);
    return;
  }
  if (const auto why = doubt(host, platform, driver, root, search)) return set_unknown(driver, *why);
  set_absent(driver);
}

}  // namespace sage
