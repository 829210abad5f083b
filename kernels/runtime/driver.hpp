// One table of functions over HIP and CUDA; everything above it is the same for both.
#pragma once

#include <cstdint>
#include <string>

#include "device/plan.hpp"
#include "driver_abi.hpp"
#include "failure.hpp"
#include "mapped_library.hpp"

namespace sage::runtime {

enum class Api : std::uint8_t { hip = SAGE_API_HIP, cuda = SAGE_API_CUDA };

struct Device {
  int ordinal = 0;
  std::string target;  // "gfx1201", "sm_90"
  unsigned sm = 0;     // NVIDIA only: 90
  std::string name;    // as the driver has it, in printable ASCII; may be empty
};

// What a kernel starts after: all work before it on the stream, or as early as the kernel before allows it (a GPU and driver that can't do
// that take the first).
enum class Order : std::uint8_t { after_stream, by_kernel };

class Driver {
 public:
  // Finds the library as sage_context_options says and fills the table. Calls nothing of HIP; initialises CUDA.
  [[nodiscard]] static Failure open(std::uint32_t api, const char* path, Driver& driver);

  [[nodiscard]] Api api() const { return api_; }
  [[nodiscard]] const std::string& path() const { return library_.path(); }

  // The calling thread's current device. Does not allocate.
  [[nodiscard]] Failure current_ordinal(int& ordinal) const;
  [[nodiscard]] Failure current_device(Device& device) const;

  // `image` must stay valid during the call; PTX must be terminated.
  [[nodiscard]] Failure load(const void* image, Module& module) const;
  void unload(Module module) const;
  [[nodiscard]] Failure function(Module module, const char* name, Function& function) const;
  // Lets a kernel have more dynamic shared memory than the 48 KiB that NVIDIA grants unasked; nothing to do on AMD.
  [[nodiscard]] Failure allow_shared_bytes(Function function, unsigned bytes) const;
  [[nodiscard]] Failure launch(Function function, unsigned grid, unsigned block, unsigned shared_bytes, Stream stream,
                               void** arguments, const char* name, Order order = Order::after_stream) const;
  // A view for the copy engine of sm_90; CUDA from 12.0 on.
  [[nodiscard]] bool can_map_tensors() const { return tensor_map_encode_ != nullptr; }
  [[nodiscard]] Failure map_tensor(const device::TensorView& view, SageTensorMap& map) const;

 private:
  [[nodiscard]] Failure bind();
  [[nodiscard]] Failure failed(const char* call, DriverResult result) const;

  Api api_ = Api::hip;
  Library library_;
  ModuleLoadData module_load_data_ = nullptr;
  ModuleUnload module_unload_ = nullptr;
  ModuleGetFunction module_get_function_ = nullptr;
  LaunchKernel launch_kernel_ = nullptr;
  CuLaunchKernelEx launch_kernel_ex_ = nullptr;    // CUDA from 11.8 on
  CuTensorMapEncodeTiled tensor_map_encode_ = nullptr;  // CUDA from 12.0 on
  GetDevice get_device_ = nullptr;
  HipGetDeviceProperties hip_properties_ = nullptr;
  std::size_t hip_arch_name_at_ = 0;
  HipGetErrorString hip_error_string_ = nullptr;
  CuDeviceGetAttribute cu_device_attribute_ = nullptr;
  CuFuncSetAttribute cu_function_attribute_ = nullptr;
  CuDeviceGetName cu_device_name_ = nullptr;  // null in a driver without it
  CuGetErrorString cu_error_string_ = nullptr;
};

}  // namespace sage::runtime
