#include "probes/host/capture_toml.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "probes/host/capture_reader.hpp"

namespace sage {
namespace {

std::int64_t number(std::uint64_t value) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(value, largest));
}

/// Length of the valid UTF-8 sequence at the start; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool beyond = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
  return overlong || beyond ? 0 : length;
}

std::string utf8(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    clean += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

// ---- set(): a key, unless the value is what a reader takes without it

void set(toml::table& table, const char* key, const std::string& value) {
  if (!value.empty()) table.insert(key, utf8(value));
}

void set(toml::table& table, const char* key, const std::vector<std::string>& values) {
  if (values.empty()) return;
  toml::array list;
  for (const std::string& value : values) list.push_back(utf8(value));
  table.insert(key, std::move(list));
}

void set(toml::table& table, const char* key, const std::map<std::string, bool>& values) {
  if (values.empty()) return;
  toml::table inner;
  for (const auto& [name, value] : values) inner.insert(utf8(name), value);
  table.insert(key, std::move(inner));
}

void set(toml::table& table, const char* key, const std::vector<ElfVersionNeed>& needs) {
  if (needs.empty()) return;
  toml::table inner;
  for (const ElfVersionNeed& need : needs) {
    toml::array versions;
    for (const std::string& version : need.versions) versions.push_back(utf8(version));
    inner.insert(utf8(need.library), std::move(versions));
  }
  table.insert(key, std::move(inner));
}

template <class T>
void set(toml::table& table, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_same_v<T, Errno>) {
    table.insert(key, errno_name(*value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    table.insert(key, utf8(*value));
  } else if constexpr (std::is_same_v<T, Error>) {
    if (value->text.empty()) {
      table.insert(key, errno_name(Errno{value->number}));
      return;
    }
    toml::table error;
    if (value->number != 0) error.insert("errno", errno_name(Errno{value->number}));
    error.insert("text", utf8(value->text));
    error.is_inline(true);
    table.insert(key, std::move(error));
  } else {
    table.insert(key, number(*value));
  }
}

/// A table with the single key `error`.
toml::table error_table(const Error& error) {
  toml::table table;
  set(table, "error", std::optional<Error>(error));
  return table;
}

// ---- one writer a table

toml::table process_table(const ProcessIdentity& process) {
  toml::table table;
  table.insert("uid", number(process.uid));
  table.insert("effective_uid", number(process.effective_uid));
  table.insert("gid", number(process.gid));
  toml::array groups;
  for (const std::uint32_t group : process.groups) groups.push_back(number(group));
  table.insert("groups", std::move(groups));
  table.insert("user", utf8(process.user));
  table.insert("host_name", utf8(process.host_name));
  table.insert("home", utf8(process.home));
  table.insert("working_folder", utf8(process.working_folder));
  table.insert("usable_cpus", number(process.usable_cpus));
  return table;
}

toml::table system_table(const Capture& capture) {
  toml::table table;
  table.insert("now", capture.now);
  if (!capture.libc) return table;
  if (capture.libc->ok()) {
    table.insert("libc", utf8((*capture.libc)->name + " " + (*capture.libc)->version));
  } else {
    // A bare errno name would read as a C library's name.
    const Error& error = capture.libc->error();
    toml::table inner;
    if (error.number != 0) inner.insert("errno", errno_name(Errno{error.number}));
    set(inner, "text", error.text);
    inner.is_inline(true);
    table.insert("libc", std::move(inner));
  }
  return table;
}

toml::table filesystem_size_table(const std::map<std::string, Result<std::uint64_t>>& sizes) {
  toml::table table;
  for (const auto& [path, size] : sizes) {
    const std::string key = utf8(path);
    if (size.ok()) {
      table.insert(key, number(*size));
    } else {
      set(table, key.c_str(), std::optional<Error>(size.error()));
    }
  }
  return table;
}

toml::array mount_list(const std::vector<Mount>& mounts) {
  toml::array list;
  for (const Mount& mount : mounts) {
    list.push_back(toml::table{{"point", utf8(mount.point)}, {"filesystem", utf8(mount.filesystem)}});
  }
  return list;
}

toml::table loader_cache_table(const std::vector<LoaderCacheEntry>& entries) {
  toml::table table;
  for (const LoaderCacheEntry& entry : entries) {
    toml::node& paths = table.insert(utf8(entry.soname), toml::array()).first->second;
    paths.as_array()->push_back(utf8(entry.path));
  }
  return table;
}

toml::table device_code_table(const ElfDeviceCode& code) {
  toml::table table;
  if (!code.in_file) table.insert("in_file", false);
  if (code.compressed) table.insert("compressed", true);
  if (!code.complete) table.insert("complete", false);
  set(table, "targets", code.targets);
  return table;
}

toml::table elf_table(const Result<ElfFacts>& facts) {
  if (!facts.ok()) return error_table(facts.error());
  toml::table table;
  table.insert("bits", number(facts->bits));
  table.insert("machine", utf8(facts->machine));
  set(table, "soname", facts->soname);
  set(table, "needed", facts->needed);
  set(table, "rpath", facts->rpath);
  set(table, "runpath", facts->runpath);
  set(table, "build_id", facts->build_id);
  set(table, "symbols", facts->symbols);
  set(table, "strings", facts->strings);
  set(table, "version_needs", facts->version_needs);
  set(table, "version_definitions", facts->version_definitions);
  if (facts->device_code) table.insert("device_code", device_code_table(*facts->device_code));
  return table;
}

toml::table dxg_table(const std::vector<DxgAdapterReply>& adapters) {
  toml::array list;
  for (const DxgAdapterReply& adapter : adapters) {
    toml::table table;
    set(table, "vendor_id", adapter.vendor_id);
    set(table, "device_id", adapter.device_id);
    set(table, "revision", adapter.revision);
    set(table, "name", adapter.name);
    set(table, "dedicated_bytes", adapter.dedicated_bytes);
    set(table, "shared_bytes", adapter.shared_bytes);
    set(table, "driver_version", adapter.driver_version);
    set(table, "wddm_version", adapter.wddm_version);
    set(table, "type_bits", adapter.type_bits);
    list.push_back(std::move(table));
  }
  return toml::table{{"adapter", std::move(list)}};
}

toml::table drm_table(const std::vector<DrmDeviceReply>& devices) {
  toml::array list;
  for (const DrmDeviceReply& device : devices) {
    toml::table table;
    set(table, "render_node", device.render_node);
    set(table, "pci_address", device.pci_address);
    set(table, "marketing_name", device.marketing_name);
    table.insert("vram_bytes", number(device.vram_bytes));
    list.push_back(std::move(table));
  }
  return toml::table{{"device", std::move(list)}};
}

toml::table kernel_log_table(const std::vector<std::string>& messages) {
  toml::array list;
  for (const std::string& message : messages) list.push_back(utf8(message));
  return toml::table{{"lines", std::move(list)}};
}

toml::array program_list(const std::vector<CapturedProgram>& programs) {
  toml::array list;
  for (const CapturedProgram& program : programs) {
    toml::table table;
    toml::array arguments;
    for (const std::string& argument : program.arguments) arguments.push_back(utf8(argument));
    table.insert("arguments", std::move(arguments));
    if (!program.result.ok()) {
      set(table, "error", std::optional<Error>(program.result.error()));
    } else {
      const ProgramOutput& output = *program.result;
      if (output.exit_status != 0) table.insert("exit_status", output.exit_status);
      if (output.signal != 0) table.insert("signal", output.signal);
      if (output.timed_out) table.insert("timed_out", true);
      set(table, "output", output.output);
      set(table, "errors", output.errors);
    }
    list.push_back(std::move(table));
  }
  return list;
}

// ---- paths

std::string octal(std::uint32_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3) digits += static_cast<char>('0' + ((mode >> shift) & 7u));
  return digits;
}

/// Names that exist in a folder because an entry stands below it.
std::map<std::string, std::set<std::string>> names_that_follow(const Capture& capture) {
  std::map<std::string, std::set<std::string>> names;
  const auto add = [&](std::string path) {
    for (std::string folder = parent_path(path); !folder.empty(); folder = parent_path(path)) {
      if (!names[folder].insert(path.substr(path.rfind('/') + 1)).second) return;
      path = std::move(folder);
    }
  };
  for (const auto& [path, entry] : capture.paths) add(path);
  for (const auto& [path, facts] : capture.elf) add(path);
  return names;
}

toml::table path_table(const CapturedPath& entry, const std::set<std::string>& following) {
  toml::table table;
  if (entry.type != FileType::regular) table.insert("type", std::string(enum_name(entry.type)));
  if (entry.only_end) table.insert("only_end", true);
  set(table, "target", entry.target);
  std::vector<std::string> names = entry.names;
  std::erase_if(names, [&](const std::string& name) { return following.contains(name); });
  set(table, "names", names);
  if (entry.mode) table.insert("mode", octal(*entry.mode));
  set(table, "uid", entry.uid);
  set(table, "gid", entry.gid);
  set(table, "major", entry.device_major);
  set(table, "minor", entry.device_minor);
  set(table, "size", entry.size);
  set(table, "inode", entry.inode);
  set(table, "access", entry.access);
  set(table, "open", entry.open);
  set(table, "status_error", entry.status_error);
  set(table, "read_error", entry.read_error);
  set(table, "list_error", entry.list_error);
  return table;
}

/// True when the path exists in a replay also without a table of its own.
bool follows(const std::string& path, const CapturedPath& entry, const Capture& capture,
             const std::map<std::string, std::set<std::string>>& following) {
  if (entry.type == FileType::directory) return path == "/" || following.contains(path);
  return entry.contents.has_value() || capture.elf.contains(path);
}

toml::table paths_table(const Capture& capture) {
  const auto following = names_that_follow(capture);
  const std::set<std::string> none;
  toml::table table;
  for (const auto& [path, entry] : capture.paths) {
    const auto names = following.find(path);
    toml::table inner = path_table(entry, names == following.end() ? none : names->second);
    const std::size_t keys_of_the_type = entry.type == FileType::directory ? 1 : 0;
    if (inner.size() == keys_of_the_type && follows(path, entry, capture, following)) continue;
    table.insert(utf8(path), std::move(inner));
  }
  return table;
}

template <class T, class ToNode>
void set_captured(toml::table& top, const char* key, const Captured<T>& captured, ToNode to_node) {
  if (!captured) return;
  if (captured->ok()) {
    top.insert(key, to_node(**captured));
  } else {
    top.insert(key, error_table(captured->error()));
  }
}

}  // namespace

std::string capture_to_toml(const Capture& capture) {
  toml::table top;
  top.insert("capture_version", capture_version);
  set(top, "description", capture.description);
  top.insert("process", process_table(capture.process));
  top.insert("system", system_table(capture));
  top.insert("filesystem_size", filesystem_size_table(capture.filesystem_sizes));
  toml::table environment;
  for (const auto& [name, value] : capture.environment) environment.insert(utf8(name), utf8(value));
  top.insert("environment", std::move(environment));
  set_captured(top, "mount", capture.mounts, mount_list);
  set_captured(top, "loader_cache", capture.loader_cache, loader_cache_table);
  top.insert("path", paths_table(capture));
  toml::table elf;
  for (const auto& [path, facts] : capture.elf) elf.insert(utf8(path), elf_table(facts));
  top.insert("elf", std::move(elf));
  set_captured(top, "kernel_log", capture.kernel_log, kernel_log_table);
  set_captured(top, "dxg", capture.dxg_adapters, dxg_table);
  set_captured(top, "drm", capture.drm_devices, drm_table);
  if (!capture.programs.empty()) top.insert("program", program_list(capture.programs));

  std::ostringstream text;
  text << top << "\n";
  return text.str();
}

}  // namespace sage
