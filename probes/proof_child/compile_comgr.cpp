#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probes/proof_child/library.hpp"
#include "probes/proof_child/library_compile.hpp"
#include "probes/proof_child/outcome.hpp"

namespace sage {
namespace {

// The functions of comgr's C interface that are used, declared by hand as in the public header amd_comgr.h. Handles are
// structs of one 64-bit number, which the x86-64 and AArch64 calling conventions pass as that number.
using Status = int;
using Handle = std::uint64_t;

struct Comgr {
  explicit Comgr(const Library& library)
      : version(library.find<decltype(version)>("amd_comgr_get_version")),
        status_text(library.find<decltype(status_text)>("amd_comgr_status_string")),
        isa_count(library.find<decltype(isa_count)>("amd_comgr_get_isa_count")),
        isa_name(library.find<decltype(isa_name)>("amd_comgr_get_isa_name")),
        create_data(library.find<decltype(create_data)>("amd_comgr_create_data")),
        set_data(library.find<decltype(set_data)>("amd_comgr_set_data")),
        set_data_name(library.find<decltype(set_data_name)>("amd_comgr_set_data_name")),
        get_data(library.find<decltype(get_data)>("amd_comgr_get_data")),
        create_set(library.find<decltype(create_set)>("amd_comgr_create_data_set")),
        add(library.find<decltype(add)>("amd_comgr_data_set_add")),
        create_action(library.find<decltype(create_action)>("amd_comgr_create_action_info")),
        set_isa(library.find<decltype(set_isa)>("amd_comgr_action_info_set_isa_name")),
        set_language(library.find<decltype(set_language)>("amd_comgr_action_info_set_language")),
        set_options(library.find<decltype(set_options)>("amd_comgr_action_info_set_option_list")),
        set_logging(library.find<decltype(set_logging)>("amd_comgr_action_info_set_logging")),
        do_action(library.find<decltype(do_action)>("amd_comgr_do_action")),
        data_of(library.find<decltype(data_of)>("amd_comgr_action_data_get_data")) {}

  [[nodiscard]] bool complete() const {
    return version != nullptr && status_text != nullptr && isa_count != nullptr && isa_name != nullptr &&
           create_data != nullptr && set_data != nullptr && set_data_name != nullptr && get_data != nullptr &&
           create_set != nullptr && add != nullptr && create_action != nullptr && set_isa != nullptr &&
           set_language != nullptr && set_options != nullptr && set_logging != nullptr && do_action != nullptr &&
           data_of != nullptr;
  }

  void (*version)(std::size_t* major, std::size_t* minor);
  Status (*status_text)(Status, const char**);
  Status (*isa_count)(std::size_t*);
  Status (*isa_name)(std::size_t, const char**);
  Status (*create_data)(int kind, Handle*);
  Status (*set_data)(Handle, std::size_t, const char*);
  Status (*set_data_name)(Handle, const char*);
  Status (*get_data)(Handle, std::size_t*, char*);
  Status (*create_set)(Handle*);
  Status (*add)(Handle set, Handle data);
  Status (*create_action)(Handle*);
  Status (*set_isa)(Handle, const char*);
  Status (*set_language)(Handle, int);
  Status (*set_options)(Handle, const char**, std::size_t);
  Status (*set_logging)(Handle, bool);
  Status (*do_action)(int kind, Handle action, Handle in, Handle out);
  Status (*data_of)(Handle set, int kind, std::size_t index, Handle*);
};

std::string isa_of(const std::string& target) { return "amdgcn-amd-amdhsa--" + target; }

enum DataKind : int { source_data = 1, log_data = 5, executable_data = 8 };
constexpr int compile_to_bitcode = 2;
constexpr int no_language = 0;

/// comgr 3 (ROCm 7) dropped some members of its enumerations, so that those behind them have other numbers.
struct Numbers {
  int hip;
  int to_relocatable;
  int to_executable;
};
constexpr Numbers of_comgr_2 = {4, 6, 9};
constexpr Numbers of_comgr_3 = {3, 4, 7};

/// Empty when the target is listed.
std::string why_unlisted(const Comgr& comgr, const std::string& target) {
  std::size_t count = 0;
  const std::string isa = isa_of(target);
  if (comgr.isa_count(&count) != 0) count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (comgr.isa_name(i, &name) == 0 && name != nullptr && isa.substr(0, isa.find(':')) == name) return "";
  }
  std::size_t major = 0;
  std::size_t minor = 0;
  comgr.version(&major, &minor);
  return "comgr " + std::to_string(major) + "." + std::to_string(minor) + " does not list " + target;
}

/// Source, bitcode, object, code object: three actions on sets of data. The first that fails ends it.
class Compilation {
 public:
  Compilation(const Comgr& comgr, const LibraryCompile& what)
      : comgr_(comgr), what_(what), isa_(isa_of(what.target)) {}

  LibraryAnswer run() {
    std::size_t major = 0;
    std::size_t minor = 0;
    comgr_.version(&major, &minor);
    constexpr std::size_t first_with_new_numbers = 3;
    const Numbers numbers = major >= first_with_new_numbers ? of_comgr_3 : of_comgr_2;
    std::vector<const char*> options;
    for (const std::string& option : what_.options) options.push_back(option.c_str());
    Handle set = sources();
    set = stage(compile_to_bitcode, numbers.hip, options, set);
    set = stage(numbers.to_relocatable, no_language, {"-O3"}, set);
    set = stage(numbers.to_executable, no_language, {}, set);
    if (failure_) return *std::move(failure_);
    std::string code = first(set, executable_data);
    return {std::string(outcome_ok), std::move(log_), std::move(code)};
  }

 private:
  bool good(Status status, const char* what, const std::string& log = "") {
    if (status == 0) return true;
    const char* text = nullptr;
    comgr_.status_text(status, &text);
    failure_ = LibraryAnswer{"error " + std::to_string(status) + " of " + what,
                             log.empty() ? std::string(text == nullptr ? "" : text) : log, ""};
    return false;
  }

  Handle sources() {
    const std::string_view text = what_.text;
    Handle data = 0;
    Handle set = 0;
    static_cast<void>(good(comgr_.create_data(source_data, &data), "amd_comgr_create_data") &&
                      good(comgr_.set_data(data, text.size(), text.data()), "amd_comgr_set_data") &&
                      good(comgr_.set_data_name(data, "kernel.hip"), "amd_comgr_set_data_name") &&
                      good(comgr_.create_set(&set), "amd_comgr_create_data_set") &&
                      good(comgr_.add(set, data), "amd_comgr_data_set_add"));
    return set;
  }

  Handle stage(int kind, int language, std::vector<const char*> options, Handle in) {
    Handle action = 0;
    Handle out = 0;
    if (failure_ || !good(comgr_.create_action(&action), "amd_comgr_create_action_info") ||
        !good(comgr_.create_set(&out), "amd_comgr_create_data_set") ||
        (language != no_language && !good(comgr_.set_language(action, language), "its language")) ||
        !good(comgr_.set_isa(action, isa_.c_str()), "its target") ||
        !good(comgr_.set_options(action, options.data(), options.size()), "its options") ||
        !good(comgr_.set_logging(action, true), "its log")) {
      return 0;
    }
    const Status status = comgr_.do_action(kind, action, in, out);
    const std::string log = first(out, log_data);
    if (good(status, "amd_comgr_do_action", log)) log_ += log;
    return out;
  }

  std::string first(Handle set, int kind) {
    Handle data = 0;
    std::size_t size = 0;
    if (comgr_.data_of(set, kind, 0, &data) != 0 || comgr_.get_data(data, &size, nullptr) != 0) return "";
    if (size > largest_library_answer) return "";
    std::string bytes(size, '\0');
    return comgr_.get_data(data, &size, bytes.data()) == 0 ? bytes : "";
  }

  const Comgr& comgr_;
  const LibraryCompile& what_;
  std::string isa_;
  std::string log_;
  std::optional<LibraryAnswer> failure_;
};

}  // namespace

std::optional<LibraryAnswer> comgr_refusal(const Library& library, const std::string& target) {
  const Comgr comgr(library);
  if (comgr.version == nullptr || comgr.isa_count == nullptr || comgr.isa_name == nullptr) return std::nullopt;
  std::string why = why_unlisted(comgr, target);
  if (why.empty()) return std::nullopt;
  return LibraryAnswer{"not supported", std::move(why), ""};
}

LibraryAnswer compile_in_comgr(const LibraryCompile& what) {
  const Library library(what.library);
  const Comgr comgr(library);
  if (!library.loaded()) return {"could not be loaded", library.problem(), ""};
  if (!comgr.complete()) return {"could not be loaded", "functions of comgr are missing in it", ""};
  // What it does not list may end the process (facts/kernels.md 10).
  if (auto refusal = comgr_refusal(library, what.target)) return *std::move(refusal);
  return Compilation(comgr, what).run();
}

}  // namespace sage
