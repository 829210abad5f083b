#include <algorithm>
#include <array>

#include "probes/host/host.hpp"

namespace sage {
namespace {

constexpr auto names = std::to_array<std::string_view>({
    "AMD_SERIALIZE_KERNEL",
    "APPTAINER_CONTAINER",
    "CONDA_PREFIX",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "FLASH_ATTENTION_TRITON_AMD_ENABLE",
    "GPU_DEVICE_ORDINAL",
    "HIP_CLANG_PATH",
    "HIP_DEVICE_LIB_PATH",
    "HIP_PATH",
    "HIP_PLATFORM",
    "HIP_VISIBLE_DEVICES",
    "HOME",
    "HSA_ENABLE_DTIF",
    "HSA_ENABLE_DXG_DETECTION",
    "HSA_ENABLE_SDMA",
    "HSA_OVERRIDE_GFX_VERSION",
    "HSA_TOOLS_LIB",
    "HSA_XNACK",
    "KUBERNETES_SERVICE_HOST",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MAX_JOBS",
    "PATH",
    "PYENV_VERSION",
    "PYTHONHOME",
    "PYTHONNOUSERSITE",
    "PYTHONPATH",
    "PYTHONUSERBASE",
    "PYTORCH_ROCM_ARCH",
    "ROCM_HOME",
    "ROCM_PATH",
    "ROCR_VISIBLE_DEVICES",
    "SAGE_DOCTOR_ENV",
    "SAGE_DOCTOR_ENV_NAMES",
    "SHELL",
    "SINGULARITY_CONTAINER",
    "SPACK_ROOT",
    "SUDO_UID",
    "SUDO_USER",
    "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL",
    "TRITON_HIP_LLD_PATH",
    "TRITON_LIBHIP_PATH",
    "VIRTUAL_ENV",
    "WSL_DISTRO_NAME",
    "WSL_INTEROP",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "container",
});
static_assert(std::is_sorted(names.begin(), names.end()));

constexpr std::string_view per_node_override = "HSA_OVERRIDE_GFX_VERSION_";

/// Before the name of a variable that a script of `sage-doctor env` has set: what it was, what it is, what was added.
constexpr auto notes = std::to_array<std::string_view>({
    "SAGE_DOCTOR_ENV_ADDED_",
    "SAGE_DOCTOR_ENV_OLD_",
    "SAGE_DOCTOR_ENV_SET_",
});

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool environment_allowed(std::string_view name) {
  if (std::binary_search(names.begin(), names.end(), name)) return true;
  for (const std::string_view note : notes) {
    if (name.starts_with(note)) return std::binary_search(names.begin(), names.end(), name.substr(note.size()));
  }
  if (!name.starts_with(per_node_override)) return false;
  const std::string_view node = name.substr(per_node_override.size());
  return !node.empty() && std::all_of(node.begin(), node.end(), is_digit);
}

const std::vector<std::string>& allowed_environment_names() {
  static const std::vector<std::string> list(names.begin(), names.end());
  return list;
}

}  // namespace sage
