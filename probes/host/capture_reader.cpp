// A capture is read as a chain of layers: the folder, the one it extends, and so on. The layers are applied from the
// far end, each on top of what the ones before it left: first its `delete`, then its files below root/, then its
// tables. Every key that is present overwrites one field of the Capture; that is all that merging means here, so a
// layer needs no knowledge of the others. A Section reads the keys of one table; what is left unread when it is closed
// is an unknown key.

#include "probes/host/capture_reader.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <utility>

#include "probes/base/nearest.hpp"
#include "probes/base/text.hpp"
#include "probes/base/toml_guard.hpp"
#include "probes/host/capture_folder.hpp"
#include "probes/host/toml_section.hpp"

namespace sage {
namespace {

using toml_section::convert;
using toml_section::Mismatch;
using toml_section::Problems;
using toml_section::Section;

constexpr std::size_t capture_toml_cap = 8 * 1024 * 1024;
constexpr std::size_t longest_chain = 8;
constexpr std::uint32_t all_mode_bits = 07777;

/// Reads `error`, or the value by `read_value`: a table holds one of the two. A new value replaces an inherited error
/// and the other way round.
template <class T, class ReadValue>
void read_error_or(Section& section, Captured<T>& out, ReadValue read_value) {
  Error error;
  if (section.read("error", error)) {
    if (section.size() > 1) section.problem("has both an error and values");
    out = Result<T>(std::move(error));
    return;
  }
  T value = out && out->ok() ? **out : T{};
  read_value(value);
  out = Result<T>(std::move(value));
}

// ---- one reader a table

void read_process(Section section, ProcessIdentity& out) {
  if (section.read("uid", out.uid)) out.effective_uid = out.uid;
  section.read("effective_uid", out.effective_uid);
  section.read("gid", out.gid);
  section.read("groups", out.groups);
  section.read("user", out.user);
  section.read("host_name", out.host_name);
  section.read("home", out.home);
  section.read("working_folder", out.working_folder);
  section.read("usable_cpus", out.usable_cpus);
  section.close();
}

void read_system(Section section, Capture& out) {
  section.read("now", out.now);
  if (const toml::node* node = section.find("libc")) {
    const std::string text = node->value_or(std::string());
    const std::vector<std::string_view> parts = words(text);
    Error error;
    if (node->is_string() && parts.size() == 2) {
      out.libc = LibcInfo{std::string(parts[0]), std::string(parts[1])};
    } else if (node->is_table() && !convert(*node, error)) {
      out.libc = Result<LibcInfo>(error);
    } else {
      section.problem(*node, "libc", "expected a name and a version such as \"glibc 2.39\", or an error table");
    }
  }
  section.close();
}

void read_filesystem_sizes(const toml::table& table, Problems& problems, Capture& out) {
  for (const auto& [key, node] : table) {
    const std::string path(key.str());
    std::uint64_t size = 0;
    Error error;
    if (!convert(node, size)) {
      out.filesystem_sizes.insert_or_assign(path, size);
    } else if (!convert(node, error)) {
      out.filesystem_sizes.insert_or_assign(path, error);
    } else {
      problems.add(node.source(), "filesystem_size.\"" + path + "\": expected a number of bytes or an errno name");
    }
  }
}

void read_environment(const toml::table& table, Problems& problems, Capture& out) {
  const std::vector<std::string>& allowed = allowed_environment_names();
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!environment_allowed(name)) {
      problems.add(key.source(), "environment." + name + ": no probe reads this variable" +
                                     did_you_mean(name, {allowed.begin(), allowed.end()}));
    } else if (Mismatch mismatch = convert(node, out.environment[name])) {
      problems.add(node.source(), "environment." + name + ": expected " + *mismatch);
    }
  }
}

void read_loader_cache(const toml::table& table, Problems& problems, Capture& out) {
  Section section(table, "loader_cache.", problems);
  read_error_or(section, out.loader_cache, [&](std::vector<LoaderCacheEntry>& entries) {
    for (const auto& [key, node] : table) {
      const std::string soname(key.str());
      std::vector<std::string> paths;
      section.read(key.str(), paths);
      std::erase_if(entries, [&](const LoaderCacheEntry& entry) { return entry.soname == soname; });
      for (std::string& path : paths) entries.push_back({soname, std::move(path)});
    }
  });
}

void read_mode(Section& section, std::optional<std::uint32_t>& out) {
  const toml::node* node = section.find("mode");
  if (node == nullptr) return;
  std::uint32_t mode = 0;
  const std::string text = node->is_string() ? *node->value<std::string>() : std::string();
  for (const char digit : text) {
    mode = digit >= '0' && digit <= '7' ? mode * 8 + static_cast<std::uint32_t>(digit - '0') : all_mode_bits + 1;
    if (mode > all_mode_bits) break;
  }
  if (text.empty() || mode > all_mode_bits) {
    section.problem(*node, "mode", "expected a string of octal digits such as \"0660\"");
    return;
  }
  out = mode;
}

void check_path_entry(Section& section, const CapturedPath& entry) {
  const bool device = entry.type == FileType::character_device || entry.type == FileType::block_device;
  if (entry.type == FileType::symlink && entry.target.empty()) section.problem("is a symlink without target");
  if (entry.type != FileType::symlink && !entry.target.empty()) section.problem("has a target but is no symlink");
  if (entry.type != FileType::regular && entry.contents) section.problem("has contents but is no file");
  if (entry.only_end && !entry.contents) section.problem("has 'only_end' but no contents");
  if (entry.type != FileType::directory && !entry.names.empty()) section.problem("has names but is no directory");
  if (!device && (entry.device_major || entry.device_minor)) section.problem("has device numbers but is no device");
}

void read_path(Section section, CapturedPath& entry, bool has_file) {
  FileType type = entry.type;
  if (section.read("type", type) && type != entry.type) {
    entry = CapturedPath{};  // nothing that was inherited about another kind of file holds
    entry.type = type;
  }
  if (section.read("text", entry.contents)) {
    if (has_file) section.problem("has both 'text' and a file below root/");
    entry.read_error.reset();
    entry.only_end = false;
  }
  section.read("only_end", entry.only_end);
  section.read("target", entry.target);
  section.read("names", entry.names);
  read_mode(section, entry.mode);
  section.read("uid", entry.uid);
  section.read("gid", entry.gid);
  section.read("major", entry.device_major);
  section.read("minor", entry.device_minor);
  section.read("size", entry.size);
  section.read("inode", entry.inode);
  section.read("access", entry.access);
  section.read("open", entry.open);
  section.read("status_error", entry.status_error);
  section.read("read_error", entry.read_error);
  section.read("list_error", entry.list_error);
  section.close();
  check_path_entry(section, entry);
}

/// A table of library = versions, where ElfFacts has a list in the order of the libraries' names.
void read_version_needs(Section& section, std::vector<ElfVersionNeed>& out) {
  std::map<std::string, std::vector<std::string>> needs;
  for (ElfVersionNeed& need : out) needs.emplace(std::move(need.library), std::move(need.versions));
  section.read("version_needs", needs);
  out.clear();
  for (auto& [library, versions] : needs) out.push_back({library, std::move(versions)});
}

void read_device_code(Section section, std::optional<ElfDeviceCode>& out) {
  if (!out) out.emplace();
  section.read("in_file", out->in_file);
  section.read("compressed", out->compressed);
  section.read("complete", out->complete);
  section.read("targets", out->targets);
  section.close();
}

void read_elf(Section section, const std::string& place, Problems& problems, std::optional<Result<ElfFacts>>& out) {
  read_error_or(section, out, [&](ElfFacts& facts) {
    section.read("bits", facts.bits);
    section.read("machine", facts.machine);
    section.read("soname", facts.soname);
    section.read("needed", facts.needed);
    section.read("rpath", facts.rpath);
    section.read("runpath", facts.runpath);
    section.read("build_id", facts.build_id);
    section.read("symbols", facts.symbols);
    section.read("strings", facts.strings);
    read_version_needs(section, facts.version_needs);
    section.read("version_definitions", facts.version_definitions);
    if (const auto* table = section.find_table("device_code")) {
      read_device_code(Section(*table, place + "device_code.", problems), facts.device_code);
    }
  });
  section.close();
}

void read_mounts_error(Section section, Capture& out) {
  Error error;
  if (!section.read("error", error)) section.problem("expected [[mount]] or an error");
  section.close();
  out.mounts = Result<std::vector<Mount>>(std::move(error));
}

void read_mounts(const std::vector<const toml::table*>& tables, Problems& problems, Capture& out) {
  std::vector<Mount> mounts;
  for (const toml::table* table : tables) {
    Section section(*table, "mount.", problems);
    Mount& mount = mounts.emplace_back();
    if (!section.read("point", mount.point)) section.problem("has no 'point'");
    if (!section.read("filesystem", mount.filesystem)) section.problem("has no 'filesystem'");
    section.close();
  }
  out.mounts = std::move(mounts);
}

void read_kernel_log(Section section, Capture& out) {
  read_error_or(section, out.kernel_log, [&](std::vector<std::string>& lines) { section.read("lines", lines); });
  section.close();
}

void read_dxg(Section section, Problems& problems, Capture& out) {
  read_error_or(section, out.dxg_adapters, [&](std::vector<DxgAdapterReply>& adapters) {
    const auto tables = section.find_tables("adapter");
    if (!tables) return;
    adapters.clear();
    for (const toml::table* table : *tables) {
      Section inner(*table, "dxg.adapter.", problems);
      DxgAdapterReply& adapter = adapters.emplace_back();
      inner.read("vendor_id", adapter.vendor_id);
      inner.read("device_id", adapter.device_id);
      inner.read("revision", adapter.revision);
      inner.read("name", adapter.name);
      inner.read("dedicated_bytes", adapter.dedicated_bytes);
      inner.read("shared_bytes", adapter.shared_bytes);
      inner.read("driver_version", adapter.driver_version);
      inner.read("wddm_version", adapter.wddm_version);
      inner.read("type_bits", adapter.type_bits);
      inner.close();
    }
  });
  section.close();
}

void read_drm(Section section, Problems& problems, Capture& out) {
  read_error_or(section, out.drm_devices, [&](std::vector<DrmDeviceReply>& devices) {
    const auto tables = section.find_tables("device");
    if (!tables) return;
    devices.clear();
    for (const toml::table* table : *tables) {
      Section inner(*table, "drm.device.", problems);
      DrmDeviceReply& device = devices.emplace_back();
      if (!inner.read("render_node", device.render_node)) inner.problem("has no 'render_node'");
      inner.read("pci_address", device.pci_address);
      inner.read("marketing_name", device.marketing_name);
      inner.read("vram_bytes", device.vram_bytes);
      inner.close();
    }
  });
  section.close();
}

void read_program(Section section, CapturedProgram& out) {
  if (!section.read("arguments", out.arguments)) section.problem("has no 'arguments'");
  Error error;
  if (section.read("error", error)) {
    if (section.size() > 2) section.problem("has both an error and an outcome");
    out.result = error;
    return section.close();
  }
  ProgramOutput output;
  std::uint8_t exit_status = 0;
  std::uint8_t signal = 0;
  section.read("exit_status", exit_status);
  section.read("signal", signal);
  section.read("timed_out", output.timed_out);
  section.read("output", output.output);
  section.read("errors", output.errors);
  section.close();
  output.exit_status = exit_status;
  output.signal = signal;
  out.result = std::move(output);
}

// ---- layers

struct Layer {
  std::string file;  ///< capture.toml, for messages
  toml::table toml;
  std::map<std::string, TreeEntry> tree;
  std::string extends;
};

Result<toml::table> parse_toml(const std::string& text, const std::string& file) {
  if (auto problem = toml_text_problem(text, file)) return *problem;
  toml::parse_result parsed = toml::parse(text, file);
  if (parsed) return std::move(parsed).table();
  const toml::parse_error& problem = parsed.error();
  return Error{0, file + ":" + std::to_string(problem.source().begin.line) + ": " + std::string(problem.description())};
}

bool is_folder_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name.find_first_of("/.") == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Result<Layer> read_layer(const CaptureFolder& folder, CaptureBudget& budget) {
  Layer layer;
  layer.file = (folder.name() / "capture.toml").string();
  const Result<std::string> text = folder.read_file("capture.toml", std::min(capture_toml_cap, budget.bytes));
  if (!text) return text.error();
  budget.bytes -= text->size();
  Result<toml::table> toml = parse_toml(*text, layer.file);
  if (!toml) return toml.error();
  layer.toml = std::move(toml).value();

  Problems problems(layer.file);
  Section section(layer.toml, "", problems);
  int version = 0;
  if (!section.read("capture_version", version)) return Error{0, layer.file + ": has no 'capture_version'"};
  if (version != capture_version) {
    section.problem(*layer.toml.get("capture_version"), "capture_version",
                    "is " + std::to_string(version) + ", but this program reads version " +
                        std::to_string(capture_version) + " only");
  }
  if (section.read("extends", layer.extends) && !is_folder_name(layer.extends)) {
    section.problem(*layer.toml.get("extends"), "extends",
                    "expected the plain name of a folder beside this one, without slashes and dots");
  }
  if (problems.first()) return *problems.first();

  auto tree = folder.read_root(budget);
  if (!tree) return tree.error();
  layer.tree = std::move(tree).value();
  return layer;
}

void delete_path(Capture& capture, const std::string& path) {
  const auto below = [&](const auto& item) { return item.first == path || item.first.starts_with(path + "/"); };
  std::erase_if(capture.paths, below);
  std::erase_if(capture.elf, below);
  const auto parent = capture.paths.find(parent_path(path));
  if (parent != capture.paths.end()) std::erase(parent->second.names, path.substr(path.rfind('/') + 1));
}

/// True when `thing` is of a kind that can be deleted.
bool delete_thing(Capture& capture, const std::string& thing) {
  if (is_plain_absolute_path(thing) && thing != "/") {
    delete_path(capture, thing);
  } else if (thing.starts_with("env:")) {
    capture.environment.erase(thing.substr(4));
  } else if (thing.starts_with("elf:")) {
    capture.elf.erase(thing.substr(4));
  } else if (thing == "dxg") {
    capture.dxg_adapters.reset();
  } else if (thing == "drm") {
    capture.drm_devices.reset();
  } else if (thing == "kernel_log") {
    capture.kernel_log.reset();
  } else if (thing == "loader_cache") {
    capture.loader_cache.reset();
  } else if (thing == "mount") {
    capture.mounts.reset();
  } else if (thing == "program") {
    capture.programs.clear();
  } else if (thing == "environment") {
    capture.environment.clear();
  } else if (thing == "filesystem_size") {
    capture.filesystem_sizes.clear();
  } else {
    return false;
  }
  return true;
}

void apply_tree(Layer& layer, Capture& capture) {
  for (auto& [path, file] : layer.tree) {
    CapturedPath& entry = capture.paths[path];
    if (entry.type != file.type) entry = CapturedPath{};
    entry.type = file.type;
    if (file.type == FileType::symlink) entry.target = std::move(file.text);
    if (file.type == FileType::regular) {
      entry.contents = std::move(file.text);
      entry.only_end = false;
      entry.status_error.reset();
      entry.read_error.reset();
    }
  }
}

/// Calls `read(path, table)` for each table of [name."/path"].
template <class Read>
void for_each_path_table(const toml::table* tables, const std::string& name, Problems& problems, Read read) {
  if (tables == nullptr) return;
  for (const auto& [key, node] : *tables) {
    const std::string path(key.str());
    const std::string place = name + ".\"" + path + "\"";
    if (!is_plain_absolute_path(path)) {
      problems.add(key.source(), place + ": expected an absolute path without '.', '..' and doubled slashes");
    } else if (!node.is_table()) {
      problems.add(node.source(), place + ": expected a table");
    } else {
      read(path, Section(*node.as_table(), place + ".", problems));
    }
  }
}

void apply_tables(const Layer& layer, Problems& problems, Capture& capture) {
  Section top(layer.toml, "", problems);
  (void)top.find("capture_version");
  (void)top.find("extends");
  (void)top.find("delete");
  top.read("description", capture.description);
  const auto section = [&](const toml::table* table, const char* place) { return Section(*table, place, problems); };
  if (const auto* table = top.find_table("process")) read_process(section(table, "process."), capture.process);
  if (const auto* table = top.find_table("system")) read_system(section(table, "system."), capture);
  if (const auto* table = top.find_table("filesystem_size")) read_filesystem_sizes(*table, problems, capture);
  if (const auto* table = top.find_table("environment")) read_environment(*table, problems, capture);
  if (const auto* node = top.find("mount"); node != nullptr && node->is_table()) {
    read_mounts_error(section(node->as_table(), "mount."), capture);
  } else if (const auto tables = top.find_tables("mount")) {
    read_mounts(*tables, problems, capture);
  }
  if (const auto* table = top.find_table("loader_cache")) read_loader_cache(*table, problems, capture);
  for_each_path_table(top.find_table("path"), "path", problems, [&](const std::string& path, Section inner) {
    read_path(std::move(inner), capture.paths[path], layer.tree.contains(path));
  });
  for_each_path_table(top.find_table("elf"), "elf", problems, [&](const std::string& path, Section inner) {
    std::optional<Result<ElfFacts>> facts;
    if (const auto inherited = capture.elf.find(path); inherited != capture.elf.end()) facts = inherited->second;
    read_elf(std::move(inner), "elf.\"" + path + "\".", problems, facts);
    capture.elf.insert_or_assign(path, *std::move(facts));
  });
  if (const auto* table = top.find_table("kernel_log")) read_kernel_log(section(table, "kernel_log."), capture);
  if (const auto* table = top.find_table("dxg")) read_dxg(section(table, "dxg."), problems, capture);
  if (const auto* table = top.find_table("drm")) read_drm(section(table, "drm."), problems, capture);
  if (const auto tables = top.find_tables("program")) {
    capture.programs.clear();
    for (const toml::table* table : *tables) read_program(section(table, "program."), capture.programs.emplace_back());
  }
  top.close();
}

std::optional<Error> apply_layer(Layer& layer, Capture& capture) {
  Problems problems(layer.file);
  Section section(layer.toml, "", problems);
  std::vector<std::string> deleted;
  if (section.read("delete", deleted)) {
    for (const std::string& thing : deleted) {
      if (delete_thing(capture, thing)) continue;
      section.problem(*layer.toml.get("delete"), "delete",
                      "'" + thing + "' is neither an absolute path, \"env:NAME\", \"elf:/path\" nor a table's name");
    }
  }
  apply_tree(layer, capture);
  apply_tables(layer, problems, capture);
  return problems.first();
}

}  // namespace

Result<Capture> read_capture(const std::filesystem::path& folder) {
  CaptureBudget budget;
  std::vector<Layer> layers;  // this capture first
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  Result<CaptureFolder> here = CaptureFolder::open(folder);
  while (true) {
    if (!here) return here.error();
    const auto identity = here->identity();
    if (!identity) return identity.error();
    if (!seen.insert(*identity).second) return Error{0, here->name().string() + ": extends itself by way of others"};
    if (layers.size() == longest_chain) return Error{0, folder.string() + ": a chain of more than 8 captures"};
    Result<Layer> layer = read_layer(*here, budget);
    if (!layer) return layer.error();
    layers.push_back(std::move(layer).value());
    if (layers.back().extends.empty()) break;
    Result<CaptureFolder> next = here->open_sibling(layers.back().extends);
    here = std::move(next);
  }

  Capture capture;
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (auto problem = apply_layer(*layer, capture)) return *problem;
  }
  if (auto problem = tree_problem(capture)) return Error{0, layers.front().file + ": " + problem->text};
  return capture;
}

}  // namespace sage
