#include "the_gpu.hpp"

#include <cstdio>
#include <cstdlib>

namespace sage::test {
namespace {

constexpr int skipped = 77;

constexpr AttentionLibrary linked{&sage_context_from_folder, &sage_context_describe,  &sage_context_destroy,
                                  &sage_attention_workspace, &sage_attention_kernel, &sage_attention_launch,
                                  &sage_context_gpu_name,    &sage_context_tuning};

const Gpu* open() {
  const char* const folder = std::getenv("SAGE_CODE_OBJECTS");
  try {
    if (folder == nullptr) throw NoGpu("SAGE_CODE_OBJECTS names no folder of code objects");
    static const Gpu gpu(linked, folder, "");
    std::printf("%s, %u attention kernels, %s\n", gpu.target().c_str(), gpu.kernel_count(), gpu.runtime_path().c_str());
    return &gpu;
  } catch (const NoGpu& none) {
    std::printf("skipped: %s\n", none.what());
    std::exit(skipped);
  }
}

}  // namespace

const Gpu& the_gpu() {
  static const Gpu* const gpu = open();
  return *gpu;
}

const Device& device_under_test() {
  static const Device device = device_of(the_gpu());
  return device;
}

}  // namespace sage::test
