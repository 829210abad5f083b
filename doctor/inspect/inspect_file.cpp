#include "doctor/inspect/inspect_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "doctor/inspect/device_objects.hpp"
#include "kernels/code_object/compressed_bundle.hpp"
#include "kernels/code_object/cubin.hpp"
#include "kernels/code_object/elf.hpp"
#include "probes/base/text.hpp"
#include "probes/base/version.hpp"
#include "probes/host/bundle_walk.hpp"
#include "probes/host/elf_reader.hpp"
#include "probes/host/file_calls.hpp"

namespace sage {
namespace {

using code_object::as_bytes;

constexpr std::size_t head_size = 4096;
constexpr std::uint64_t most_object_bytes = 512 * 1024 * 1024;  // a code object that is a file of its own
constexpr std::size_t most_segments = 1024;

/// What to do about a file that can't be read, by errno.
std::string_view way_out(int number) {
  switch (number) {
    case ENOENT:
      return "check the name";
    case EISDIR:
      return "name a file in it";
    case EACCES:
      return "ask as a user who may read it";
    case EINVAL:
      return "name a library, a program, a code object, an offload bundle or a .kpack file";
    case ENOEXEC:
      return "if it was copied, downloaded or installed, do that again";
    default:
      return {};
  }
}

/// What reading the code objects of a bundle costs. They may overlap, so that their sum says more than the bundle.
std::uint64_t bytes_to_read(const FoundBundle& bundle) {
  std::uint64_t sum = 0;
  for (const code_object::BundleEntry& entry : bundle.entries) {
    if (__builtin_add_overflow(sum, entry.size, &sum)) return UINT64_MAX;
  }
  return std::max(sum, bundle.plain_size);
}

class Inspector {
 public:
  Inspector(const std::string& path, const InspectOptions& options) : options_(options) { found_.path = path; }

  Result<Inspection> inspect() {
    const auto opened = file_calls::open_regular(found_.path, Links::follow);
    if (!opened) return failed(opened.error());
    file_ = opened->number();
    struct stat status = {};
    if (fstat(file_, &status) != 0) return failed({errno, errno_text(Errno{errno})});
    found_.size = static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0));
    const auto head = file_calls::read_at(file_, 0, head_size);
    if (!head) return failed(head.error());
    head_ = *head;
    if (auto error = look()) return failed(*error);
    return std::move(found_);
  }

 private:
  using Failure = std::optional<Error>;

  [[nodiscard]] Error failed(const Error& error) const {
    const std::string_view remedy = way_out(error.number);
    return {error.number, found_.path + ": " + error.text + (remedy.empty() ? "" : "; ") + std::string(remedy)};
  }

  Failure look() {
    const std::string_view file_name = std::string_view(found_.path).substr(found_.path.rfind('/') + 1);
    if (head_.empty()) return Error{ENOEXEC, "the file is empty"};
    if (file_name.ends_with(".kpack")) return look_at_kpack(file_name);
    if (code_object::bundle_kind(as_bytes(head_)) != code_object::BundleKind::none) {
      found_.kind = InspectedKind::bundle;
      return look_at_bundles({{0, found_.size, true}});
    }
    if (!head_.starts_with("\x7f"
                           "ELF"))
      return not_inspectable();
    const auto header = code_object::read_elf_header(as_bytes(head_));
    if (header && header->machine == code_object::elf::machine_amdgpu) return look_at_code_object();
    if (header && header->machine == code_object::elf::machine_cuda) return look_at_cubin();
    return look_at_host_elf();
  }

  [[nodiscard]] Error not_inspectable() const {
    if (head_.starts_with("version https://git-lfs")) {
      return {0, "a Git LFS pointer, not the file itself; 'git lfs pull' fetches it"};
    }
    if (head_.starts_with("/* GNU ld script") || head_.starts_with("INPUT") || head_.starts_with("GROUP")) {
      return {0, "a linker script; inspect the library that it names"};
    }
    if (head_.starts_with("!<arch>")) return {0, "a static library; take an object out of it with ar x"};
    return {EINVAL, "neither an ELF file nor an offload bundle"};
  }

  Failure look_at_kpack(std::string_view file_name) {
    found_.kind = InspectedKind::kpack;
    const KpackName name = parse_kpack_name(file_name);
    if (!name.target.empty()) found_.targets.push_back(name.target);
    found_.notes.emplace_back("told by the file's name alone; its contents were not read");
    return std::nullopt;
  }

  /// All of the file, where it has at most `most` bytes.
  Result<std::string> whole(std::uint64_t most) const {
    if (found_.size > most) return Error{EFBIG, "larger than the " + human_bytes(most) + " that are read"};
    auto bytes = file_calls::read_at(file_, 0, found_.size);
    if (bytes && bytes->size() != found_.size) return Error{ENOEXEC, "it became shorter while it was read"};
    return bytes;
  }

  Failure look_at_code_object() {
    found_.kind = InspectedKind::code_object;
    const auto bytes = whole(most_object_bytes);
    if (!bytes) return bytes.error();
    InspectedObject object;
    object.size = found_.size;
    read_object(as_bytes(*bytes), object);
    const bool relocatable = code_object::read_elf_header(as_bytes(*bytes))->type == code_object::elf::type_relocatable;
    if (object.target.empty() || (!object.kernels && !relocatable)) {
      return Error{ENOEXEC, "damaged or unknown AMDGPU code object: " + object.not_read};
    }
    found_.targets.push_back(object.target);
    found_.objects.push_back(std::move(object));
    return std::nullopt;
  }

  Failure look_at_cubin() {
    found_.kind = InspectedKind::cubin;
    const auto bytes = whole(most_object_bytes);
    if (!bytes) return bytes.error();
    auto cubin = code_object::read_cubin(as_bytes(*bytes));
    if (!cubin) return Error{ENOEXEC, "damaged cubin: " + cubin.error().message};
    found_.targets.push_back("sm_" + std::to_string(cubin->sm));
    found_.cubin_kernels = std::move(cubin.value().kernels);
    return std::nullopt;
  }

  Failure look_at_host_elf() {
    ElfQuery query;
    query.versions = true;
    auto facts = read_elf(file_, query);
    if (!facts) return facts.error();
    found_.elf = std::move(facts).value();
    found_.kind = kind_of_elf();
    for (const ElfVersionNeed& need : found_.elf->version_needs) {
      found_.highest_needs.push_back({need.library, highest_versions(need.versions)});
    }
    if (options_.exports) {
      auto exports = read_elf_exports(file_, options_.most_exports);
      if (!exports) return exports.error();
      if (!exports->complete) {
        found_.notes.push_back("only " + std::to_string(options_.most_exports) + " of its exports are listed");
      }
      found_.exports = std::move(exports.value().names);
    }
    const auto places = find_device_code(file_);
    if (!places) {
      // A stripped file may have no section headers at all; the loader does not need them.
      found_.notes.emplace_back("GPU code was not looked for: " + places.error().text);
      return std::nullopt;
    }
    if (places->empty()) return std::nullopt;
    return look_at_bundles(*places);
  }

  /// A position-independent program is of the same ELF type as a library, but names a loader and, unlike the C library,
  /// has no soname.
  [[nodiscard]] InspectedKind kind_of_elf() const {
    const code_object::Bytes bytes{as_bytes(head_)};
    const std::uint16_t type = bytes.u16(16).value_or(0);
    if (type == 1) return InspectedKind::object;   // ET_REL
    if (type == 2) return InspectedKind::program;  // ET_EXEC
    if (!found_.elf->soname.empty() || found_.elf->bits != 64) return InspectedKind::library;
    const std::uint64_t table = bytes.u64(32).value_or(0);
    const std::size_t count = std::min<std::size_t>(bytes.u16(56).value_or(0), most_segments);
    const auto segments = file_calls::read_at(file_, table, count * 56);
    constexpr std::uint32_t interpreter = 3;  // PT_INTERP
    for (std::size_t i = 0; segments && (i + 1) * 56 <= segments->size(); ++i) {
      if (code_object::Bytes{as_bytes(*segments)}.u32(i * 56) == interpreter) return InspectedKind::program;
    }
    return InspectedKind::library;
  }

  Failure look_at_bundles(const std::vector<ElfSectionPlace>& places) {
    InspectedBundles& bundles = found_.bundles.emplace();
    bundles.in_file = false;
    const ReadPiece read = [this](std::uint64_t at, std::size_t count) {
      return file_calls::read_at(file_, at, count);
    };
    std::set<std::string> targets;
    std::vector<FoundBundle> all;
    for (const ElfSectionPlace& place : places) {
      if (!place.in_file) continue;
      bundles.in_file = true;
      BundleWalk walk = walk_bundles(read, place.offset, place.size);
      if (bundles.incomplete.empty()) bundles.incomplete = walk.incomplete;
      for (std::string& target : bundled_targets(walk)) targets.insert(std::move(target));
      std::move(walk.bundles.begin(), walk.bundles.end(), std::back_inserter(all));
    }
    if (found_.kind == InspectedKind::bundle && all.empty()) {
      return Error{ENOEXEC, "damaged offload bundle: " + bundles.incomplete};
    }
    bundles.count = all.size();
    for (const FoundBundle& bundle : all) bundles.compressed |= bundle.compressed;
    found_.targets.assign(targets.begin(), targets.end());
    read_kernels(all);
    return std::nullopt;
  }

  /// Takes up the code objects of all bundles, and reads them if that is not too much.
  void read_kernels(const std::vector<FoundBundle>& bundles) {
    std::uint64_t total = 0;
    for (const FoundBundle& bundle : bundles) {
      if (__builtin_add_overflow(total, bytes_to_read(bundle), &total)) total = UINT64_MAX;
    }
    const bool wanted = options_.kernels || total <= options_.little_kernel_bytes;
    std::uint64_t left = wanted ? options_.most_kernel_bytes : 0;
    std::size_t unread = 0;
    for (std::size_t i = 0; i < bundles.size(); ++i) {
      const std::uint64_t cost = bytes_to_read(bundles[i]);
      const bool read = cost <= left;
      if (read) left -= cost;
      const std::size_t first = found_.objects.size();
      list_objects(bundles[i], i);
      if (!read) unread += found_.objects.size() - first;
      if (read) read_objects(bundles[i], first);
    }
    if (unread == 0) return;
    const std::string what = "the kernels of " + std::to_string(unread) + " of " +
                             std::to_string(found_.objects.size()) + " code objects are not listed";
    found_.notes.push_back(wanted ? what + ": together they have more than " + human_bytes(options_.most_kernel_bytes)
                                  : what + " (" + human_bytes(total) + " to read); --kernels lists them");
  }

  void list_objects(const FoundBundle& bundle, std::size_t number) {
    for (const code_object::BundleEntry& entry : bundle.entries) {
      code_object::BundleId id = entry.parsed();
      if (id.kind == "host") continue;
      InspectedObject object;
      object.bundle_id = entry.id;
      object.bundle = number;
      object.offset = entry.offset + (bundle.compressed ? 0 : bundle.offset);
      object.size = entry.size;
      object.target = std::move(id.target);
      found_.objects.push_back(std::move(object));
    }
  }

  void read_objects(const FoundBundle& bundle, std::size_t first) {
    std::vector<std::byte> plain;
    std::string failure;
    if (bundle.compressed && first < found_.objects.size()) {
      const auto packed = file_calls::read_at(file_, bundle.offset, std::min(bundle.size, options_.most_bundle_bytes));
      if (!packed) failure = packed.error().text;
      if (packed) {
        auto unpacked = code_object::decompress_bundle(as_bytes(*packed), options_.most_bundle_bytes);
        if (!unpacked) failure = unpacked.error().message;
        if (unpacked) plain = std::move(unpacked).value();
      }
    }
    for (std::size_t i = first; i < found_.objects.size(); ++i) {
      InspectedObject& object = found_.objects[i];
      if (!failure.empty()) {
        object.not_read = failure;
      } else if (bundle.compressed) {
        const auto part = code_object::Bytes{plain}.slice(object.offset, object.size, "code object");
        if (!part) object.not_read = part.error().message;
        if (part) read_object(*part, object);
      } else {
        const auto bytes = file_calls::read_at(file_, object.offset, std::min(object.size, options_.most_bundle_bytes));
        if (!bytes) object.not_read = bytes.error().text;
        if (bytes) read_object(as_bytes(*bytes), object);
      }
    }
  }

  const InspectOptions& options_;
  int file_ = -1;
  std::string head_;
  Inspection found_;
};

}  // namespace

Result<Inspection> inspect_file(const std::string& path, const InspectOptions& options) {
  return Inspector(path, options).inspect();
}

std::vector<std::string> highest_versions(const std::vector<std::string>& versions) {
  std::vector<std::string> highest;
  std::map<std::pair<bool, std::string_view>, std::size_t> places;
  for (const std::string& name : versions) {
    const std::size_t sign = name.rfind('_');
    const std::string_view number = sign == std::string::npos ? "" : std::string_view(name).substr(sign + 1);
    const bool numbered = parse_version(number).has_value();
    const std::string_view family = numbered ? std::string_view(name).substr(0, sign) : std::string_view(name);
    const auto [place, fresh] = places.emplace(std::pair(numbered, family), highest.size());
    if (fresh) {
      highest.push_back(name);
      continue;
    }
    std::string& best = highest[place->second];
    if (numbered && version_below(std::string_view(best).substr(family.size() + 1), number)) best = name;
  }
  return highest;
}

KpackName parse_kpack_name(std::string_view file_name) {
  constexpr std::string_view ending = ".kpack";
  if (file_name.ends_with(ending)) file_name.remove_suffix(ending.size());
  const std::size_t sign = file_name.rfind("_gfx");
  if (sign == std::string_view::npos) return {std::string(file_name), {}};
  std::string target(file_name.substr(sign + 1));
  if (!code_object::parse_target_id(target)) target.clear();
  return {std::string(target.empty() ? file_name : file_name.substr(0, sign)), target};
}

}  // namespace sage
