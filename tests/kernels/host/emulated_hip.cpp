// Stands in for libamdhip64 with its real symbol names, and runs what is launched: on emulated lanes, at once, in the
// calling thread. "GPU" memory is the process's own. What there is of HIP (PyTorch's side of it is missing) is what
// libsage_attention calls, so that its whole way from a file of code objects to numbers can be tested anywhere, from any
// language, and what kernels/trial calls, so that trials and benchmarks run through. Graphs are refused.
//
// Events give times of the host's clock, or, with the environment variable EMULATED_HIP_MILLISECONDS, always that one; half of it
// after a kernel whose name contains EMULATED_HIP_FASTER. EMULATED_HIP_WRONG spoils every output, EMULATED_HIP_CRASH ends the
// process at the first launch, EMULATED_HIP_NO_COPY refuses copies within the device, EMULATED_HIP_HANG is a file that hipInit
// makes before it hangs.
//
// It is as strict as the real loader where the caller could be wrong: a module must be a code object for the device's
// target, a function must be one of its kernels, and a kernel that leaves its buffers makes the launch fail.
//
// The device is gfx1201, or what the environment variable EMULATED_HIP_TARGET says when the library is loaded.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "code_object/code_object.hpp"
#include "code_object/elf.hpp"
#include "device/plan.hpp"
#include "emulator/machine.hpp"
#include "trial/trial.hpp"

namespace sage::trial {
void emulated_gfx12(Device& device);
void emulated_gfx942(Device& device);
}  // namespace sage::trial

namespace {

namespace code_object = sage::code_object;
using sage::trial::Kernel;

enum HipResult : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_binary_for_gpu = 209,
  not_found = 500,
  launch_failure = 719,
  not_supported = 801,
};

constexpr std::size_t amd_shared_limit = 65536;

struct Module {
  std::vector<std::string> kernels;
};

struct Function {
  std::string name;
  Kernel run;
};

struct Event {
  std::chrono::steady_clock::time_point when;
};

struct Machine {
  std::string target = "gfx1201";
  int wave_size = 32;
  std::vector<std::pair<std::string, Kernel>> kernels;
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::mutex mutex;
  std::string launched;  // the last kernel
  std::uint64_t launches = 0;
  std::uint64_t modules = 0;

  Machine() {
    if (const char* const told = std::getenv("EMULATED_HIP_TARGET")) target = told;
    sage::trial::Device device{};
    if (target.starts_with("gfx12")) {
      sage::trial::emulated_gfx12(device);
    } else if (target.starts_with("gfx942")) {
      sage::trial::emulated_gfx942(device);
      wave_size = 64;
    }
    kernels = device.kernels;
  }
};

Machine& machine() {
  static Machine the_machine;
  return the_machine;
}

// The size of a code object in memory, which a caller of hipModuleLoadData does not say: where its section headers end.
std::size_t image_size(const void* image) {
  const auto* const bytes = static_cast<const unsigned char*>(image);
  std::uint64_t sections = 0;
  std::uint16_t size = 0;
  std::uint16_t count = 0;
  std::memcpy(&sections, bytes + 40, sizeof sections);
  std::memcpy(&size, bytes + 58, sizeof size);
  std::memcpy(&count, bytes + 60, sizeof count);
  return sections + std::size_t{size} * count;
}

// The bytes between the lowest and the highest element of a tensor.
struct Extent {
  unsigned char* first;
  std::size_t bytes;
};

Extent extent(const void* base, const SageStrides& s, long long batch, long long heads, long long tokens, long long dim) {
  long long low = 0;
  long long high = 0;
  const auto reach = [&](long long stride, long long count) {
    (stride < 0 ? low : high) += stride * (count - 1);
  };
  reach(s.batch, batch);
  reach(s.head, heads);
  reach(s.token, tokens);
  reach(s.dim, dim);
  auto* const address = const_cast<unsigned char*>(static_cast<const unsigned char*>(base));
  return {address + 2 * low, static_cast<std::size_t>(2 * (high - low + 1))};
}

// Everything that a launch may touch, each buffer a region of its own.
void add_regions(sage_emulator::GlobalMemory& memory, const SageArgs& a) {
  using Access = sage_emulator::GlobalMemory::Access;
  const auto add = [&](const char* name, const void* base, std::size_t bytes, Access access) {
    if (base != nullptr && bytes > 0) memory.add(name, const_cast<void*>(base), bytes, access, true);
  };
  const auto add_tensor = [&](const char* name, const Extent& e, Access access) { add(name, e.first, e.bytes, access); };
  const auto q_rows = static_cast<std::size_t>(a.batch) * static_cast<std::size_t>(a.q_heads) * static_cast<std::size_t>(a.q_len);
  const auto kv = static_cast<std::size_t>(a.batch) * static_cast<std::size_t>(a.kv_heads);
  const auto dp = static_cast<std::size_t>(a.dp);
  const auto keys = static_cast<std::size_t>(a.key_padded);
  const std::size_t v_bytes = a.pv_type == SAGE_PV_F16 ? 2 : 1;
  add_tensor("out", extent(a.out, a.out_stride, a.batch, a.q_heads, a.q_len, a.head_dim), Access::read_write);
  add("lse", a.lse, q_rows * 4, Access::read_write);
  add("q8", a.q8, q_rows * dp, Access::read_write);
  add("k8", a.k8, kv * keys * dp, Access::read_write);
  add("vt", a.vt, kv * keys * dp * v_bytes, Access::read_write);
  add("q_scale", a.q_scale, q_rows * 4, Access::read_write);
  add("k_scale", a.k_scale, kv * (keys / sage::device::keys_per_scale) * 4, Access::read_write);
  add("v_scale", a.v_scale, kv * dp * 4, Access::read_write);
  add("k_mean", a.k_mean, kv * dp * 4, Access::read_write);
  add("q_mean", a.q_mean, q_rows * 4, Access::read_write);
  add("partial", a.partial, kv * static_cast<std::size_t>(a.kv_chunks) * 2 * dp * 4, Access::read_write);
  add_tensor("q", extent(a.q, a.q_stride, a.batch, a.q_heads, a.q_len, a.head_dim), Access::read_only);
  if (a.kv_len == 0) return;
  add_tensor("k", extent(a.k, a.k_stride, a.batch, a.kv_heads, a.kv_len, a.head_dim), Access::read_only);
  add_tensor("v", extent(a.v, a.v_stride, a.batch, a.kv_heads, a.kv_len, a.head_dim), Access::read_only);
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

// For tests: what has happened so far.
std::uint64_t emulated_hip_launches() {
  return machine().launches;
}
std::uint64_t emulated_hip_modules() {
  return machine().modules;
}

int hipGetDevice(int* device) {
  *device = 0;
  return success;
}

int hipGetDevicePropertiesR0600(void* properties, int device) {
  if (device != 0) return invalid_value;
  std::memset(properties, 0, 1472);
  std::memcpy(properties, "Emulated GPU", 13);
  std::memcpy(static_cast<char*>(properties) + 1160, machine().target.c_str(), machine().target.size() + 1);
  return success;
}

const char* hipGetErrorString(int result) {
  switch (result) {
    case no_binary_for_gpu:
      return "no kernel image is available for execution on the device";
    case not_found:
      return "named symbol not found";
    case launch_failure:
      return "unspecified launch failure";
    default:
      return "unknown error";
  }
}

int hipModuleLoadData(void** module, const void* image) {
  const auto* const bytes = static_cast<const std::byte*>(image);
  const auto object = code_object::read_code_object({bytes, image_size(image)});
  const auto agent = code_object::parse_target_id(machine().target);
  if (!object || !agent || !code_object::loads_on(object->target, *agent)) return no_binary_for_gpu;
  auto loaded = std::make_unique<Module>();
  for (const code_object::Kernel& kernel : object->kernels) loaded->kernels.push_back(kernel.metadata.name);
  *module = loaded.release();
  ++machine().modules;
  return success;
}

int hipModuleUnload(void* module) {
  delete static_cast<Module*>(module);
  return success;
}

int hipModuleGetFunction(void** function, void* module, const char* name) {
  const std::lock_guard<std::mutex> lock(machine().mutex);
  bool listed = false;
  for (const std::string& kernel : static_cast<const Module*>(module)->kernels) listed = listed || kernel == name;
  for (const auto& [kernel, run] : machine().kernels) {
    if (!listed || kernel != name) continue;
    std::unique_ptr<Function>& made = machine().functions[kernel];
    if (!made) made = std::make_unique<Function>(Function{kernel, run});
    *function = made.get();
    return success;
  }
  return not_found;
}

int hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared_bytes, void* /*stream*/, void** arguments, void** extra) {
  if (gy != 1 || gz != 1 || by != 1 || bz != 1 || shared_bytes != 0 || extra != nullptr || arguments == nullptr ||
      gx > static_cast<unsigned>(std::numeric_limits<int>::max()))
    return invalid_value;
  SageArgs args;
  std::memcpy(&args, arguments[0], sizeof args);
  if (std::getenv("EMULATED_HIP_CRASH") != nullptr) std::abort();
  const Function& chosen = *static_cast<const Function*>(function);
  sage_emulator::Launch launch;
  launch.grid = static_cast<int>(gx);
  launch.threads = static_cast<int>(bx);
  launch.wave_size = machine().wave_size;
  launch.shared_limit = amd_shared_limit;
  // The emulator has one machine for a process.
  const std::lock_guard<std::mutex> lock(machine().mutex);
  sage_emulator::GlobalMemory memory;
  sage_emulator::Report report;
  add_regions(memory, args);
  sage_emulator::run(
      launch, [&] { chosen.run(args, SageTensorMap{}); }, memory, report);
  ++machine().launches;
  machine().launched = chosen.name;
  if (std::getenv("EMULATED_HIP_WRONG") != nullptr && chosen.name.starts_with("sage_attention_"))
    *static_cast<unsigned short*>(args.out) ^= 0x7c00;  // the first element, by many powers of two
  if (report.clean()) return success;
  std::fprintf(stderr, "emulated_hip: %s: %s\n", chosen.name.c_str(), report.text().c_str());
  return launch_failure;
}

int hipInit(unsigned) {
  if (const char* const sign = std::getenv("EMULATED_HIP_HANG")) {
    if (std::FILE* const file = std::fopen(sign, "w")) std::fclose(file);
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return success;
}
int hipSetDevice(int device) {
  return device == 0 ? success : invalid_value;
}
int hipDriverGetVersion(int* version) {
  *version = 60000000;
  return success;
}

// No more at a time: what a benchmark overwrites and copies is as large as fits.
constexpr std::size_t most_allocated = std::size_t{16} << 20U;

int hipMalloc(void** at, std::size_t bytes) {
  if (bytes > most_allocated) return out_of_memory;
  *at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *at != nullptr ? success : invalid_value;
}
int hipFree(void* at) {
  std::free(at);
  return success;
}
int hipMemsetD8(void* at, unsigned char byte, std::size_t bytes) {
  std::memset(at, byte, bytes);
  return success;
}
int hipMemsetD8Async(void* at, unsigned char byte, std::size_t bytes, void* /*stream*/) {
  return hipMemsetD8(at, byte, bytes);
}
int hipMemcpyDtoDAsync(void* to, const void* from, std::size_t bytes, void* /*stream*/) {
  if (std::getenv("EMULATED_HIP_NO_COPY") != nullptr) return not_supported;
  std::memcpy(to, from, bytes);
  return success;
}
int hipMemcpyHtoD(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return success;
}
int hipMemcpyDtoH(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return success;
}

int hipStreamCreateWithFlags(void** stream, unsigned) {
  *stream = new char;
  return success;
}
int hipStreamDestroy(void* stream) {
  delete static_cast<char*>(stream);
  return success;
}
int hipStreamSynchronize(void*) {
  return success;
}
int hipStreamBeginCapture(void*, int) {
  return not_supported;
}
int hipStreamEndCapture(void*, void**) {
  return not_supported;
}
int hipGraphInstantiate(void**, void*, void**, char*, std::size_t) {
  return not_supported;
}
int hipGraphLaunch(void*, void*) {
  return not_supported;
}
int hipGraphDestroy(void*) {
  return not_supported;
}
int hipGraphExecDestroy(void*) {
  return not_supported;
}

int hipEventCreateWithFlags(void** event, unsigned) {
  *event = new Event{};
  return success;
}
int hipEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return success;
}
int hipEventRecord(void* event, void* /*stream*/) {
  *static_cast<Event*>(event) = {std::chrono::steady_clock::now()};
  return success;
}
int hipEventSynchronize(void*) {
  return success;
}
int hipEventElapsedTime(float* milliseconds, void* start, void* stop) {
  const std::chrono::duration<float, std::milli> gone = static_cast<Event*>(stop)->when - static_cast<Event*>(start)->when;
  const char* const told = std::getenv("EMULATED_HIP_MILLISECONDS");
  const char* const faster = std::getenv("EMULATED_HIP_FASTER");
  *milliseconds = told != nullptr ? std::strtof(told, nullptr) : gone.count();
  if (faster != nullptr && machine().launched.find(faster) != std::string::npos) *milliseconds /= 2;
  return success;
}

#pragma GCC visibility pop

}  // extern "C"
