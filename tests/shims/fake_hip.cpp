// A libamdhip64 with the symbols and structures of the real one and one GPU that is the processor. SAGE_FAKE_HIP says
// how it behaves; unset it is healthy.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int no_device = 100;
constexpr int out_of_memory = 2;
constexpr int not_initialized = 3;

bool mode(std::string_view wanted) {
  const char* mode = std::getenv("SAGE_FAKE_HIP");
  return mode != nullptr && mode == wanted;
}

int put_properties(void* properties, unsigned arch_at, unsigned size) {
  std::memset(properties, 0, size);
  std::strcpy(static_cast<char*>(properties), "Stand-in GPU");
  std::strcpy(static_cast<char*>(properties) + arch_at, "gfx1100");
  return 0;
}

}  // namespace

extern "C" {

int hipRuntimeGetVersion(int* version) {
  if (mode("crash at once")) abort();
  *version = 70226015;
  return 0;
}

int hipGetDeviceCount(int* count) {
  if (mode("abort")) {
    std::fputs("free(): invalid pointer\n", stderr);
    abort();
  }
  if (mode("hang")) pause();
  if (mode("exit")) _exit(3);
  *count = mode("no device") ? 0 : mode("nonsense") ? -5 : 1;
  if (mode("no device")) return no_device;
  return mode("not initialized") ? not_initialized : 0;
}

int hipDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "Stand-in\x1b[31m GPU");
  return 0;
}

#ifdef SAGE_FAKE_HIP_R0600
int hipGetDevicePropertiesR0600(void* properties, int) { return put_properties(properties, 1160, 1472); }
#endif
int hipGetDeviceProperties(void* properties, int) { return put_properties(properties, 396, 792); }

const char* hipGetErrorString(int error) {
  return error == no_device ? "no ROCm-capable device is detected" : "something went wrong";
}

int hipSetDevice(int) { return 0; }
int hipMalloc(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return mode("no memory") ? out_of_memory : 0;
}
int hipMemcpy(void* to, const void* from, std::size_t bytes, int) {
  std::memcpy(to, from, bytes);
  return 0;
}
int hipDeviceSynchronize() {
  if (mode("launch hangs")) pause();
  return 0;
}
int hipModuleLoadData(void** module, const void* image) {
  *module = const_cast<void*>(image);
  return std::memcmp(image, "\177ELF", 4) == 0 ? 0 : 209;
}
int hipModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return std::string_view(name) == "sage_proof" ? 0 : 500;
}
int hipModuleLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned, void*,
                          void** arguments, void**) {
  unsigned* const out = *static_cast<unsigned**>(arguments[0]);
  const unsigned seed = *static_cast<unsigned*>(arguments[1]);
  for (unsigned i = 0; i < threads; ++i) out[i] = (i * 2654435761U) ^ (mode("wrong result") ? seed + 1 : seed);
  return 0;
}
}
