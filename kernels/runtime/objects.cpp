#include "objects.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "code_object/bundle.hpp"
#include "code_object/code_object.hpp"
#include "code_object/cubin.hpp"
#include "code_object/elf.hpp"

namespace sage::runtime {
namespace {

using code_object::ByteSpan;

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 28U;
constexpr std::size_t most_files = 4096;

class Selection {
 public:
  Selection(Api api, const Device& device) : api_{api}, device_{device} {}

  Failure add(const std::string& origin, ByteSpan bytes) {
    const code_object::Bytes view{bytes};
    switch (code_object::bundle_kind(bytes)) {
      case code_object::BundleKind::plain:
        return add_bundle(origin, bytes);
      case code_object::BundleKind::compressed:
        return fail(SAGE_E_OBJECT_MALFORMED, "%s is a compressed offload bundle; unpack it first", origin.c_str());
      case code_object::BundleKind::none:
        break;
    }
    const auto header = code_object::read_elf_header(bytes);
    if (header.ok())
      return header->machine == code_object::elf::machine_cuda ? add_cubin(origin, bytes) : add_amdgpu(origin, bytes);
    if (header.error().code == code_object::Errc::bad_magic && looks_like_ptx(bytes)) return add_ptx(origin, bytes);
    return malformed(origin, header.error());
  }

  std::vector<Candidate> candidates;
  std::string seen;  // targets of objects that do not fit

 private:
  static Failure malformed(const std::string& origin, const code_object::Error& error) {
    return fail(SAGE_E_OBJECT_MALFORMED, "%s: %s", origin.c_str(), error.message.c_str());
  }

  void pass_over(const std::string& target) {
    if (seen.size() > 200 || seen.find(target) != std::string::npos) return;
    if (!seen.empty()) seen += ", ";
    seen += target;
  }

  Failure add_bundle(const std::string& origin, ByteSpan bytes) {
    const auto table = code_object::read_bundle_table(bytes, bytes.size());
    if (!table) return malformed(origin, table.error());
    for (const code_object::BundleEntry& entry : table->entries) {
      if (entry.size == 0) continue;
      const auto contents = code_object::bundle_contents(bytes, entry);
      if (!contents) return malformed(origin, contents.error());
      const code_object::BundleId id = entry.parsed();
      if (id.processor != "amdgcn") continue;
      if (auto failure = add_amdgpu(origin, *contents)) return failure;
    }
    return success();
  }

  Failure add_amdgpu(const std::string& origin, ByteSpan bytes) {
    const auto object = code_object::read_code_object(bytes);
    if (!object) return malformed(origin, object.error());
    const std::string target = code_object::target_id(object->target);
    const auto agent = code_object::parse_target_id(device_.target);
    if (api_ != Api::hip || !agent || !code_object::loads_on(object->target, *agent)) {
      pass_over(target);
      return success();
    }
    Candidate candidate{origin, {bytes.begin(), bytes.end()}, {}, !object->target.generic()};
    for (const code_object::Kernel& kernel : object->kernels) {
      if (!kernel.exported) continue;  // the driver would not find it
      const auto complaints = code_object::contradictions(*object, kernel);
      if (!complaints.empty())
        return fail(SAGE_E_OBJECT_MALFORMED, "%s: kernel %s: %s", origin.c_str(), kernel.metadata.name.c_str(),
                    complaints.front().c_str());
      candidate.kernels.push_back(
          {kernel.metadata.name, kernel.metadata.explicit_kernarg_bytes, kernel.metadata.max_workgroup_size});
    }
    candidates.push_back(std::move(candidate));
    return success();
  }

  Failure add_cubin(const std::string& origin, ByteSpan bytes) {
    const auto cubin = code_object::read_cubin(bytes);
    if (!cubin) return malformed(origin, cubin.error());
    if (api_ != Api::cuda || !code_object::loads_on_sm(cubin->sm, device_.sm)) {
      pass_over("sm_" + std::to_string(cubin->sm));
      return success();
    }
    Candidate candidate{origin, {bytes.begin(), bytes.end()}, {}, cubin->sm == device_.sm};
    for (const std::string& name : cubin->kernels) candidate.kernels.push_back({name, 0, 0});
    candidates.push_back(std::move(candidate));
    return success();
  }

  static bool looks_like_ptx(ByteSpan bytes) {
    return code_object::as_text(bytes).substr(0, 4096).find("\n.target sm_") != std::string_view::npos;
  }

  // PTX is compiled by the driver for any GPU that is not older than its target.
  Failure add_ptx(const std::string& origin, ByteSpan bytes) {
    const std::string_view text = code_object::as_text(bytes);
    unsigned sm = 0;
    for (const char c : text.substr(text.find("\n.target sm_") + 12, 3)) {
      if (c < '0' || c > '9') break;
      sm = sm * 10 + static_cast<unsigned>(c - '0');
    }
    if (text.find('\0') != std::string_view::npos && text.find('\0') + 1 != text.size())
      return fail(SAGE_E_OBJECT_MALFORMED, "%s: PTX text with a zero byte inside", origin.c_str());
    if (api_ != Api::cuda || sm == 0 || sm > device_.sm) {
      pass_over("PTX for sm_" + std::to_string(sm));
      return success();
    }
    Candidate candidate{origin, {bytes.begin(), bytes.end()}, {}, false};
    candidate.image.push_back(std::byte{0});
    constexpr std::string_view entry = ".entry ";
    for (std::size_t at = text.find(entry); at != std::string_view::npos; at = text.find(entry, at)) {
      at += entry.size();
      const std::size_t end = text.find_first_of("( \n", at);
      if (end == std::string_view::npos) break;
      candidate.kernels.push_back({std::string{text.substr(at, end - at)}, 0, 0});
    }
    candidates.push_back(std::move(candidate));
    return success();
  }

  Api api_;
  const Device& device_;
};

}  // namespace

Failure read_folder(const char* folder, std::vector<Offered>& offered) {
  namespace fs = std::filesystem;
  if (folder == nullptr) return fail(SAGE_E_FOLDER, "folder is NULL");
  std::error_code error;
  std::vector<fs::path> files;
  fs::directory_iterator entry{folder, error};
  for (; !error && entry != fs::directory_iterator{}; entry.increment(error)) {
    constexpr auto suffixes = std::to_array<std::string_view>({".hsaco", ".co", ".cubin", ".ptx"});
    const std::string suffix = entry->path().extension().string();
    if (std::find(suffixes.begin(), suffixes.end(), suffix) == suffixes.end()) continue;
    if (files.size() == most_files)
      return fail(SAGE_E_FOLDER, "%s holds more than %zu code objects", folder, most_files);
    files.push_back(entry->path());
  }
  if (error) return fail(SAGE_E_FOLDER, "cannot read folder %s: %s", folder, error.message().c_str());
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    const std::string name = path.filename().string();
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) return fail(SAGE_E_FOLDER, "cannot read %s: %s", path.c_str(), error.message().c_str());
    if (size > largest_file)
      return fail(SAGE_E_OBJECT_MALFORMED, "%s has %ju bytes; at most %ju are read", name.c_str(), size, largest_file);
    Offered file{name, std::vector<std::byte>(static_cast<std::size_t>(size))};
    std::ifstream stream{path, std::ios::binary};
    stream.read(reinterpret_cast<char*>(file.bytes.data()), static_cast<std::streamsize>(size));
    if (!stream) return fail(SAGE_E_FOLDER, "cannot read %s", path.c_str());
    offered.push_back(std::move(file));
  }
  if (offered.empty()) return fail(SAGE_E_NO_OBJECTS, "no file in %s ends in .hsaco, .co, .cubin or .ptx", folder);
  return success();
}

Failure select(std::vector<Offered> offered, Api api, const Device& device, std::vector<Candidate>& candidates) {
  if (offered.empty()) return fail(SAGE_E_NO_OBJECTS, "no code object was given");
  Selection selection{api, device};
  for (const Offered& object : offered) {
    if (auto failure = selection.add(object.origin, object.bytes)) return failure;
  }
  if (selection.candidates.empty()) {
    return fail(SAGE_E_OBJECT_TARGET, "no code object for %s; there are some for %s", device.target.c_str(),
                selection.seen.empty() ? "nothing" : selection.seen.c_str());
  }
  std::stable_sort(selection.candidates.begin(), selection.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.exact && !b.exact; });
  candidates = std::move(selection.candidates);
  return success();
}

}  // namespace sage::runtime
