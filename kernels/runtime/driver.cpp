#include "driver.hpp"

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "tuning.hpp"

namespace sage::runtime {
namespace {

constexpr std::string_view hip_stem = "libamdhip64";
constexpr std::string_view cuda_stem = "libcuda";

std::string_view stem_of(Api api) {
  return api == Api::hip ? hip_stem : cuda_stem;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Which API: what the caller says, else what is mapped, else what the path's name says.
Failure choose_api(std::uint32_t wanted, const char* path, Api& api) {
  if (wanted > SAGE_API_CUDA) return fail(SAGE_E_OPTION, "options.api is %u; 0 is AUTO, 1 HIP, 2 CUDA", wanted);
  if (wanted != SAGE_API_AUTO) {
    api = static_cast<Api>(wanted);
    return success();
  }
  const bool hip = !mapped_libraries(hip_stem).empty();
  const bool cuda = !mapped_libraries(cuda_stem).empty();
  if (hip && cuda)
    return fail(SAGE_E_RUNTIME_AMBIGUOUS,
                "both HIP and CUDA are mapped in this process; options.api must say which one to use");
  if (hip || cuda) {
    api = hip ? Api::hip : Api::cuda;
    return success();
  }
  if (path == nullptr)
    return fail(SAGE_E_NO_RUNTIME,
                "no libamdhip64 and no libcuda is mapped in this process, and options.runtime_path is not set");
  const std::string_view name = file_name(path);
  if (name.starts_with(hip_stem)) {
    api = Api::hip;
  } else if (name.starts_with(cuda_stem)) {
    api = Api::cuda;
  } else {
    return fail(SAGE_E_NO_RUNTIME, "%s: the name is neither libamdhip64* nor libcuda*; options.api must say what it is",
                path);
  }
  return success();
}

Failure open_library(Api api, const char* path, Library& library) {
  const std::vector<std::string> mapped = mapped_libraries(stem_of(api));
  if (mapped.size() == 1) return Library::adopt(mapped.front(), library);
  if (mapped.empty()) {
    if (path == nullptr)
      return fail(SAGE_E_NO_RUNTIME, "no %s is mapped in this process, and options.runtime_path is not set",
                  stem_of(api).data());
    return Library::load(path, library);
  }
  for (const std::string& candidate : mapped) {
    if (path != nullptr && same_file(candidate, path)) return Library::adopt(candidate, library);
  }
  return fail(SAGE_E_RUNTIME_AMBIGUOUS,
              "%zu copies of %s are mapped (%s, %s%s); options.runtime_path must name the one that made the streams",
              mapped.size(), stem_of(api).data(), mapped[0].c_str(), mapped[1].c_str(),
              mapped.size() > 2 ? ", ..." : "");
}

template <class T>
bool bind_symbol(const Library& library, const char* name, T& pointer) {
  void* const address = library.symbol(name);
  static_assert(sizeof(T) == sizeof address);
  std::memcpy(&pointer, &address, sizeof address);
  return address != nullptr;
}

}  // namespace

Failure Driver::open(std::uint32_t api, const char* path, Driver& driver) {
  if (auto failure = choose_api(api, path, driver.api_)) return failure;
  if (auto failure = open_library(driver.api_, path, driver.library_)) return failure;
  return driver.bind();
}

Failure Driver::bind() {
  const char* missing = nullptr;
  const auto need = [&](const char* name, auto& pointer) {
    if (!bind_symbol(library_, name, pointer) && missing == nullptr) missing = name;
  };
  CuInit initialise = nullptr;
  if (api_ == Api::hip) {
    need("hipModuleLoadData", module_load_data_);
    need("hipModuleUnload", module_unload_);
    need("hipModuleGetFunction", module_get_function_);
    need("hipModuleLaunchKernel", launch_kernel_);
    need("hipGetDevice", get_device_);
    need("hipGetErrorString", hip_error_string_);
    hip_arch_name_at_ = HipProperties::arch_name_r0600;
    if (!bind_symbol(library_, "hipGetDevicePropertiesR0600", hip_properties_)) {
      hip_arch_name_at_ = HipProperties::arch_name_r0000;
      need("hipGetDeviceProperties", hip_properties_);
    }
  } else {
    need("cuModuleLoadData", module_load_data_);
    need("cuModuleUnload", module_unload_);
    need("cuModuleGetFunction", module_get_function_);
    need("cuLaunchKernel", launch_kernel_);
    need("cuCtxGetDevice", get_device_);
    need("cuDeviceGetAttribute", cu_device_attribute_);
    need("cuFuncSetAttribute", cu_function_attribute_);
    need("cuGetErrorString", cu_error_string_);
    need("cuInit", initialise);
    bind_symbol(library_, "cuDeviceGetName", cu_device_name_);
    bind_symbol(library_, "cuLaunchKernelEx", launch_kernel_ex_);
    bind_symbol(library_, "cuTensorMapEncodeTiled", tensor_map_encode_);
  }
  if (missing != nullptr) return fail(SAGE_E_RUNTIME_SYMBOL, "%s has no function %s", library_.path().c_str(), missing);
  if (initialise != nullptr) {
    if (const DriverResult result = initialise(0)) {
      Failure failure = failed("cuInit", result);
      failure.status = SAGE_E_NO_DEVICE;
      return failure;
    }
  }
  return success();
}

Failure Driver::failed(const char* call, DriverResult result) const {
  const char* text = nullptr;
  if (api_ == Api::hip) {
    text = hip_error_string_(result);
  } else {
    cu_error_string_(result, &text);
  }
  Failure failure = fail(SAGE_E_DRIVER, "%s: error %d, %s", call, result, text == nullptr ? "unknown" : text);
  failure.driver_code = result;
  return failure;
}

Failure Driver::current_ordinal(int& ordinal) const {
  const DriverResult result = get_device_(&ordinal);
  if (result == 0) return success();
  Failure failure = failed(api_ == Api::hip ? "hipGetDevice" : "cuCtxGetDevice", result);
  const bool none = api_ == Api::hip ? result == HipResult::no_device || result == HipResult::invalid_device
                                     : result == CudaResult::no_device || result == CudaResult::invalid_context ||
                                           result == CudaResult::not_initialized;
  if (none) failure.status = SAGE_E_NO_DEVICE;
  return failure;
}

Failure Driver::current_device(Device& device) const {
  if (auto failure = current_ordinal(device.ordinal)) return failure;
  if (api_ == Api::cuda) {
    int major = 0;
    int minor = 0;
    if (const DriverResult result =
            cu_device_attribute_(&major, CudaAttribute::compute_capability_major, device.ordinal))
      return failed("cuDeviceGetAttribute", result);
    if (const DriverResult result =
            cu_device_attribute_(&minor, CudaAttribute::compute_capability_minor, device.ordinal))
      return failed("cuDeviceGetAttribute", result);
    if (major < 1 || minor < 0 || minor > 9)
      return fail(SAGE_E_UNSUPPORTED_TARGET, "compute capability %d.%d", major, minor);
    device.sm = static_cast<unsigned>(major * 10 + minor);
    device.target = "sm_" + std::to_string(device.sm);
    std::array<char, HipProperties::name_bytes> name{};
    if (cu_device_name_ != nullptr && cu_device_name_(name.data(), static_cast<int>(name.size() - 1), device.ordinal) == 0)
      device.name = plain_name(name.data());
    return success();
  }
  alignas(16) std::array<char, HipProperties::buffer_bytes> properties{};
  if (const DriverResult result = hip_properties_(properties.data(), device.ordinal)) {
    Failure failure = failed("hipGetDeviceProperties", result);
    if (result == HipResult::no_device) failure.status = SAGE_E_NO_DEVICE;
    return failure;
  }
  device.name = plain_name({properties.data(), strnlen(properties.data(), HipProperties::name_bytes)});
  const char* const name = properties.data() + hip_arch_name_at_;
  device.target.assign(name, strnlen(name, HipProperties::arch_name_bytes));
  // The position of the name is the one thing that a future layout could move without a sign.
  if (!device.target.starts_with("gfx"))
    return fail(SAGE_E_UNSUPPORTED_TARGET, "HIP names the GPU's target '%s', which is no gfx name",
                device.target.c_str());
  return success();
}

Failure Driver::load(const void* image, Module& module) const {
  const DriverResult result = module_load_data_(&module, image);
  return result == 0 ? success() : failed(api_ == Api::hip ? "hipModuleLoadData" : "cuModuleLoadData", result);
}

void Driver::unload(Module module) const {
  module_unload_(module);
}

Failure Driver::function(Module module, const char* name, Function& function) const {
  const DriverResult result = module_get_function_(&function, module, name);
  if (result == 0) return success();
  Failure failure = failed(name, result);
  return failure;
}

Failure Driver::allow_shared_bytes(Function function, unsigned bytes) const {
  if (api_ == Api::hip) return success();
  const DriverResult result =
      cu_function_attribute_(function, CudaAttribute::function_max_dynamic_shared_bytes, static_cast<int>(bytes));
  return result == 0 ? success() : failed("cuFuncSetAttribute", result);
}

Failure Driver::map_tensor(const device::TensorView& view, SageTensorMap& map) const {
  if (tensor_map_encode_ == nullptr) return fail(SAGE_E_RUNTIME_SYMBOL, "%s has no function cuTensorMapEncodeTiled", path().c_str());
  const std::uint32_t box[4] = {view.box[0], view.box[1], 1, 1};
  const std::uint32_t every[4] = {1, 1, 1, 1};
  const int swizzle = view.swizzle_bytes == 128 ? CudaTensorMap::swizzle_128b : CudaTensorMap::swizzle_64b;
  const DriverResult result =
      tensor_map_encode_(&map, CudaTensorMap::uint16, 4, const_cast<void*>(view.base), view.extents, view.strides, box, every, 0, swizzle,
                         CudaTensorMap::l2_promotion_256b, 0);
  return result == 0 ? success() : failed("cuTensorMapEncodeTiled", result);
}

Failure Driver::launch(Function function, unsigned grid, unsigned block, unsigned shared_bytes, Stream stream,
                       void** arguments, const char* name, Order order) const {
  if (order == Order::by_kernel && launch_kernel_ex_ != nullptr) {
    CudaLaunchAttribute early{};
    early.id = CudaLaunchAttribute::programmatic_stream_serialization;
    early.value = 1;
    const CudaLaunchConfig config{{grid, 1, 1}, {block, 1, 1}, shared_bytes, stream, &early, 1};
    const DriverResult result = launch_kernel_ex_(&config, function, arguments, nullptr);
    return result == 0 ? success() : failed(name, result);
  }
  const DriverResult result =
      launch_kernel_(function, grid, 1, 1, block, 1, 1, shared_bytes, stream, arguments, nullptr);
  return result == 0 ? success() : failed(name, result);
}

}  // namespace sage::runtime
