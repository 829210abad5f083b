// The kernels of one emulated target, by name. Compiled once per target with SAGE_EMULATED_<TARGET> defined.
#include "../../../kernels/emulator/device.hpp"
#include "../../../kernels/trial/emulated.hpp"
#include "device_under_test.hpp"

namespace sage::test {
namespace {

// -DSAGE_ONLY with some -DSAGE_PICK_... (kernels.hpp) leaves the others out: enough for a quick look at one test case.
#define SAGE_SM90_NAME(dp, pv, length, ...)                   \
  SAGE_IF_UNIT(sage_attention_sm90_d##dp##_##pv##_##length)({ \
      "sage_attention_sm90_d" #dp "_" #pv "_" #length, &sage_attention_sm90_d##dp##_##pv##_##length}, )
#define SAGE_SM90_OTHER(dp, pv, name, ...)                         \
  SAGE_IF_ALTERNATIVE(sage_attention_sm90_d##dp##_##pv##_##name)({ \
      "sage_attention_sm90_d" #dp "_" #pv "_" #name, &sage_attention_sm90_d##dp##_##pv##_##name}, )
#define SAGE_NAME(dp, pv, length, ...)                   \
  SAGE_IF_UNIT(sage_attention_d##dp##_##pv##_##length)({ \
      "sage_attention_d" #dp "_" #pv "_" #length, &sage_attention_d##dp##_##pv##_##length}, )

#define SAGE_OTHER_NAME(dp, pv, name, ...)                    \
  SAGE_IF_ALTERNATIVE(sage_attention_d##dp##_##pv##_##name)({ \
      "sage_attention_d" #dp "_" #pv "_" #name, &sage_attention_d##dp##_##pv##_##name}, )

Device make_device() {
  Device device;
  device.kernels = {{"sage_statistics", &sage_statistics}, {"sage_finalise", &sage_finalise}, {"sage_quantise", &sage_quantise}};
  const std::vector<std::pair<std::string, Kernel>> f16 = {
#if defined(SAGE_EMULATED_GFX12)
      SAGE_TILES_GFX12_F16(SAGE_NAME) SAGE_ALTERNATIVES_GFX12_F16(SAGE_OTHER_NAME)
#elif defined(SAGE_EMULATED_GFX11)
      SAGE_TILES_GFX11_F16(SAGE_NAME) SAGE_ALTERNATIVES_GFX11_F16(SAGE_OTHER_NAME)
#elif defined(SAGE_EMULATED_GFX90A) || defined(SAGE_EMULATED_GFX942)
      SAGE_TILES_GFX9_F16(SAGE_NAME) SAGE_ALTERNATIVES_GFX9_F16(SAGE_OTHER_NAME)
#elif defined(SAGE_EMULATED_SM90)
      SAGE_TILES_SM90_F16(SAGE_SM90_NAME) SAGE_ALTERNATIVES_SM90_F16(SAGE_SM90_OTHER)
#elif defined(SAGE_EMULATED_NVIDIA)
      SAGE_TILES_NVIDIA_F16(SAGE_NAME) SAGE_ALTERNATIVES_NVIDIA_F16(SAGE_OTHER_NAME)
#endif
  };
  const std::vector<std::pair<std::string, Kernel>> fp8 = {
#if defined(SAGE_EMULATED_GFX12)
      SAGE_TILES_GFX12_FP8(SAGE_NAME) SAGE_ALTERNATIVES_GFX12_FP8(SAGE_OTHER_NAME)
#elif defined(SAGE_EMULATED_GFX942)
      SAGE_TILES_GFX9_FP8(SAGE_NAME) SAGE_ALTERNATIVES_GFX9_FP8(SAGE_OTHER_NAME)
#elif defined(SAGE_EMULATED_SM90)
      SAGE_TILES_SM90_FP8(SAGE_SM90_NAME) SAGE_ALTERNATIVES_SM90_FP8(SAGE_SM90_OTHER)
#elif defined(SAGE_EMULATED_NVIDIA)
      SAGE_TILES_NVIDIA_FP8(SAGE_NAME) SAGE_ALTERNATIVES_NVIDIA_FP8(SAGE_OTHER_NAME)
#endif
  };
  device.kernels.insert(device.kernels.end(), f16.begin(), f16.end());
  device.kernels.insert(device.kernels.end(), fp8.begin(), fp8.end());
  device.has_fp8 = !fp8.empty();
  device.fp8 = reference::ValueFormat::fp8_ocp;
  device.shared_limit = 65536;
  device.run = &run_emulated;
#if defined(SAGE_EMULATED_GFX12)
  device.name = "gfx12";
  device.family = device::Family::gfx12;
#elif defined(SAGE_EMULATED_GFX11)
  device.name = "gfx11";
  device.family = device::Family::gfx11;
#elif defined(SAGE_EMULATED_GFX90A)
  device.name = "gfx90a";
  device.family = device::Family::gfx9;
#elif defined(SAGE_EMULATED_GFX942)
  device.name = "gfx942";
  device.family = device::Family::gfx9;
  device.fp8 = reference::ValueFormat::fp8_fnuz;
#else
#if defined(SAGE_EMULATED_SM90)
  device.name = "sm_90";
  device.family = device::Family::sm90;
  device.shared_limit = 227 * 1024;
#else
  device.name = "nvidia";
  device.family = device::Family::nvidia;
  device.shared_limit = 99 * 1024;  // the smallest limit per block of sm_80 and later that has one: sm_86, sm_89
#endif
#endif
  return device;
}

}  // namespace

const Device& device_under_test() {
  static const Device device = make_device();
  return device;
}

}  // namespace sage::test
