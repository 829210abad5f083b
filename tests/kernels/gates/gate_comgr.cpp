// Usage: gate_comgr DEVICE_TEXT. The text through comgr in memory: source to bitcode to object to code object. comgr
// says beforehand which targets it knows; that list, not an attempt, decides. Built only where its header is installed.
#include <amd_comgr.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "object_check.hpp"

namespace {

constexpr int only_dp = 64;
constexpr const char* isa = "amdgcn-amd-amdhsa--gfx90a";

bool good(amd_comgr_status_t status, const char* what) {
  if (status == AMD_COMGR_STATUS_SUCCESS) return true;
  const char* text = "";
  amd_comgr_status_string(status, &text);
  std::printf("FAIL %s: %s\n", what, text);
  return false;
}

bool is_known(const std::string& name) {
  std::size_t count = 0;
  if (!good(amd_comgr_get_isa_count(&count), "amd_comgr_get_isa_count")) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const char* known = nullptr;
    if (amd_comgr_get_isa_name(i, &known) == AMD_COMGR_STATUS_SUCCESS && name == known) return true;
  }
  return false;
}

std::vector<std::byte> first_of(amd_comgr_data_set_t set, amd_comgr_data_kind_t kind) {
  amd_comgr_data_t data;
  if (amd_comgr_action_data_get_data(set, kind, 0, &data) != AMD_COMGR_STATUS_SUCCESS) return {};
  std::size_t size = 0;
  amd_comgr_get_data(data, &size, nullptr);
  std::vector<std::byte> bytes(size);
  amd_comgr_get_data(data, &size, reinterpret_cast<char*>(bytes.data()));
  amd_comgr_release_data(data);
  return bytes;
}

// One stage; the compiler's messages are printed when it fails.
bool stage(amd_comgr_action_kind_t kind, amd_comgr_language_t language, const std::vector<const char*>& options,
           amd_comgr_data_set_t in, amd_comgr_data_set_t& out) {
  amd_comgr_action_info_t action;
  if (!good(amd_comgr_create_action_info(&action), "amd_comgr_create_action_info") ||
      !good(amd_comgr_create_data_set(&out), "amd_comgr_create_data_set"))
    return false;
  if (language != AMD_COMGR_LANGUAGE_NONE && !good(amd_comgr_action_info_set_language(action, language), "language"))
    return false;
  if (!good(amd_comgr_action_info_set_isa_name(action, isa), "isa")) return false;
  std::vector<const char*> list = options;
  if (!good(amd_comgr_action_info_set_option_list(action, list.data(), list.size()), "options")) return false;
  if (!good(amd_comgr_action_info_set_logging(action, true), "logging")) return false;
  const bool done = good(amd_comgr_do_action(kind, action, in, out), "amd_comgr_do_action");
  if (!done) {
    const auto messages = first_of(out, AMD_COMGR_DATA_KIND_LOG);
    std::printf("%.*s\n", static_cast<int>(messages.size()), reinterpret_cast<const char*>(messages.data()));
  }
  amd_comgr_destroy_action_info(action);
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::size_t major = 0;
  std::size_t minor = 0;
  amd_comgr_get_version(&major, &minor);
  std::printf("comgr %zu.%zu; knows gfx1100: %s, gfx1201: %s\n", major, minor,
              is_known("amdgcn-amd-amdhsa--gfx1100") ? "yes" : "no",
              is_known("amdgcn-amd-amdhsa--gfx1201") ? "yes" : "no");
  if (!is_known(isa)) {
    std::printf("FAIL this comgr does not list %s\n", isa);
    return 1;
  }
  std::ifstream file{argv[1], std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
  amd_comgr_data_t source;
  amd_comgr_data_set_t sources;
  if (!good(amd_comgr_create_data(AMD_COMGR_DATA_KIND_SOURCE, &source), "create") ||
      !good(amd_comgr_set_data(source, text.size(), text.data()), "set") ||
      !good(amd_comgr_set_data_name(source, "sage_kernels.hip"), "name") ||
      !good(amd_comgr_create_data_set(&sources), "set") || !good(amd_comgr_data_set_add(sources, source), "add")) {
    return 1;
  }
  amd_comgr_data_set_t bitcode;
  amd_comgr_data_set_t relocatable;
  amd_comgr_data_set_t executable;
  if (!stage(AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC, AMD_COMGR_LANGUAGE_HIP,
             {"-nogpulib", "-nogpuinc", "-O3", "-std=c++17", "-DSAGE_ONLY", "-DSAGE_PICK_sage_prologue",
              "-DSAGE_PICK_sage_attention_d64_F16_LONG", "-DSAGE_PICK_sage_attention_d64_F16_SHORT"},
             sources, bitcode) ||
      !stage(AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE, AMD_COMGR_LANGUAGE_NONE, {"-O3"}, bitcode, relocatable) ||
      !stage(AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, AMD_COMGR_LANGUAGE_NONE, {}, relocatable, executable)) {
    return 1;
  }
  return sage::gates::check_old_object(first_of(executable, AMD_COMGR_DATA_KIND_EXECUTABLE), "gfx90a", only_dp) ? 0 : 1;
}
