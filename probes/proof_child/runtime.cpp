#include "probes/proof_child/runtime.hpp"

// A runtime may crash at any call, so the child tells what it knows after each one: a line of JSON, the whole proof as
// far as it got. The last complete line counts. Loading and asking is one child, the launch another: a GPU that hangs
// must not cost the names of the devices.

#include <array>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "kernels/runtime/driver_abi.hpp"
#include "probes/base/text.hpp"
#include "probes/facts/facts_json.hpp"
#include "probes/proof_child/compile.hpp"
#include "probes/proof_child/library.hpp"
#include "probes/proof_child/outcome.hpp"

namespace sage {
namespace {

using Json = nlohmann::ordered_json;
using HipError = int;

// HIP's C interface as far as it is used, in the shapes of its public header hip_runtime_api.h.
struct Hip {
  explicit Hip(const Library& library)
      : runtime_version(library.find<decltype(runtime_version)>("hipRuntimeGetVersion")),
        device_count(library.find<decltype(device_count)>("hipGetDeviceCount")),
        device_name(library.find<decltype(device_name)>("hipDeviceGetName")),
        properties(library.find<decltype(properties)>("hipGetDeviceProperties")),
        properties_r0600(library.find<decltype(properties)>("hipGetDevicePropertiesR0600")),
        error_text(library.find<decltype(error_text)>("hipGetErrorString")),
        set_device(library.find<decltype(set_device)>("hipSetDevice")),
        allocate(library.find<decltype(allocate)>("hipMalloc")),
        copy(library.find<decltype(copy)>("hipMemcpy")),
        synchronize(library.find<decltype(synchronize)>("hipDeviceSynchronize")),
        load_module(library.find<decltype(load_module)>("hipModuleLoadData")),
        get_function(library.find<decltype(get_function)>("hipModuleGetFunction")),
        launch(library.find<decltype(launch)>("hipModuleLaunchKernel")) {}

  [[nodiscard]] bool can_launch() const {
    return set_device != nullptr && allocate != nullptr && copy != nullptr && synchronize != nullptr &&
           load_module != nullptr && get_function != nullptr && launch != nullptr;
  }

  HipError (*runtime_version)(int*);
  HipError (*device_count)(int*);
  HipError (*device_name)(char*, int length, int device);
  runtime::HipGetDeviceProperties properties;
  runtime::HipGetDeviceProperties properties_r0600;
  runtime::HipGetErrorString error_text;
  HipError (*set_device)(int);
  HipError (*allocate)(void**, std::size_t);
  HipError (*copy)(void* to, const void* from, std::size_t, int kind);
  HipError (*synchronize)();
  runtime::ModuleLoadData load_module;
  runtime::ModuleGetFunction get_function;
  runtime::LaunchKernel launch;
};

std::string words_of(const Hip& hip, const char* call, HipError error) {
  const char* text = hip.error_text == nullptr ? nullptr : hip.error_text(error);
  return brief(std::string(call) + ": error " + std::to_string(error) + " (" + (text == nullptr ? "?" : text) + ")");
}

/// HIP_VERSION: major * 10^7 + minor * 10^5 + patch.
std::string version_text(int version) {
  constexpr int minor_unit = 100'000;
  constexpr int major_unit = 100 * minor_unit;
  return std::to_string(version / major_unit) + "." + std::to_string(version / minor_unit % 100) + "." +
         std::to_string(version % minor_unit);
}

/// "gfx90a:sramecc+:xnack-"; empty when the runtime does not say.
std::string target_of(const Hip& hip, int device) {
  using Properties = runtime::HipProperties;
  const bool new_form = hip.properties_r0600 != nullptr;
  const auto get = new_form ? hip.properties_r0600 : hip.properties;
  alignas(16) std::array<char, Properties::buffer_bytes> buffer{};
  if (get == nullptr || get(buffer.data(), device) != 0) return "";
  const char* name = buffer.data() + (new_form ? Properties::arch_name_r0600 : Properties::arch_name_r0000);
  return brief(std::string(name, strnlen(name, Properties::arch_name_bytes)));
}

std::string device_label(const Hip& hip, int device) {
  std::array<char, 256> name{};
  if (hip.device_name == nullptr || hip.device_name(name.data(), static_cast<int>(name.size()) - 1, device) != 0) {
    name.fill('\0');
  }
  const std::string text = brief(name.data());
  const std::string target = target_of(hip, device);
  return (text.empty() ? std::string("unnamed GPU") : text) + (target.empty() ? "" : " (" + target + ")");
}

RuntimeProof nothing_known(const std::string& library) {
  constexpr const char* ended = "the runtime did not get that far";
  RuntimeProof proof;
  proof.library = library;
  proof.loaded = false;
  proof.version = Fact<std::string>::unknown(ended);
  proof.devices = Fact<std::uint32_t>::unknown(ended);
  proof.device_names = Fact<std::vector<std::string>>::unknown(ended);
  proof.kernel_ran = Fact<bool>::unknown("no kernel was run");
  proof.outcome = std::string(outcome_ok);
  proof.message = std::string();
  return proof;
}

class Interview {
 public:
  Interview(std::string library, int answer) : proof_(nothing_known(library)), answer_(answer) {}

  void run() {
    load_comgr_beside(proof_.library);
    const Library library(proof_.library);
    if (!library.loaded()) return stop("could not be loaded", brief(library.problem()));
    proof_.loaded = true;
    tell();
    const Hip hip(library);
    if (hip.runtime_version == nullptr || hip.device_count == nullptr) {
      return stop("functions are missing", "it has no hipRuntimeGetVersion or no hipGetDeviceCount");
    }
    int number = 0;
    if (const HipError error = hip.runtime_version(&number); error == 0) {
      proof_.version = version_text(number);
    } else {
      proof_.version = Fact<std::string>::unknown(words_of(hip, "hipRuntimeGetVersion", error));
    }
    tell();
    ask_for_devices(hip);
    tell();
  }

 private:
  void ask_for_devices(const Hip& hip) {
    constexpr int most_devices = 64;
    int count = 0;
    const HipError error = hip.device_count(&count);
    if (error == runtime::HipResult::no_device) {
      proof_.message = words_of(hip, "hipGetDeviceCount", error);
      count = 0;
    } else if (error != 0) {
      return stop("error " + std::to_string(error), words_of(hip, "hipGetDeviceCount", error));
    }
    if (count < 0 || count > most_devices) {
      return stop("no sense", "hipGetDeviceCount counts " + std::to_string(count) + " devices");
    }
    proof_.devices = static_cast<std::uint32_t>(count);
    tell();
    std::vector<std::string> names;
    for (int device = 0; device < count; ++device) names.push_back(device_label(hip, device));
    proof_.device_names = std::move(names);
  }

  void stop(std::string outcome, std::string message) {
    proof_.outcome = std::move(outcome);
    proof_.message = std::move(message);
    tell();
  }

  void tell() const {
    write_answer(answer_, proof_to_json(proof_).dump(-1, ' ', true, Json::error_handler_t::replace) + "\n");
  }

  RuntimeProof proof_;
  int answer_;
};

std::string_view last_complete_line(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  if (end == std::string_view::npos) return "";
  const std::size_t before = text.substr(0, end).rfind('\n');
  return before == std::string_view::npos ? text.substr(0, end) : text.substr(before + 1, end - before - 1);
}

RuntimeProof interview(const std::string& library, std::chrono::seconds deadline) {
  const WorkerEnd end = run_worker(deadline, [&](int answer) {
    Interview(library, answer).run();
    return 0;
  });
  RuntimeProof proof = nothing_known(library);
  const Json json = Json::parse(last_complete_line(end.answer), nullptr, false);
  if (!json.is_discarded()) {
    if (Result<RuntimeProof> told = proof_from_json<RuntimeProof>(json); told.ok()) proof = std::move(told).value();
  }
  proof.library = library;
  if (end.outcome != outcome_ok) {
    proof.outcome = end.outcome;
    proof.message = decisive_line(end.talk);
  }
  return proof;
}

/// "" when the kernel ran and gave what it should.
std::string launch(const std::string& library_path, const std::vector<std::byte>& object) {
  constexpr unsigned count = 64;
  constexpr unsigned seed = 0x5a5e;
  constexpr int device_to_host = 2;
  load_comgr_beside(library_path);
  const Library library(library_path);
  const Hip hip(library);
  if (!hip.can_launch()) return "functions for modules are missing in it";
  runtime::Module module = nullptr;
  runtime::Function function = nullptr;
  void* memory = nullptr;
  unsigned value = seed;
  void* arguments[] = {&memory, &value};
  std::array<unsigned, count> result{};

  if (const HipError error = hip.set_device(0)) return words_of(hip, "hipSetDevice", error);
  if (const HipError error = hip.load_module(&module, object.data())) return words_of(hip, "hipModuleLoadData", error);
  const std::string name(proof_kernel);
  if (const HipError error = hip.get_function(&function, module, name.c_str())) {
    return words_of(hip, "hipModuleGetFunction", error);
  }
  if (const HipError error = hip.allocate(&memory, sizeof result)) return words_of(hip, "hipMalloc", error);
  if (const HipError error = hip.launch(function, 1, 1, 1, count, 1, 1, 0, nullptr, arguments, nullptr)) {
    return words_of(hip, "hipModuleLaunchKernel", error);
  }
  if (const HipError error = hip.synchronize()) return words_of(hip, "hipDeviceSynchronize", error);
  if (const HipError error = hip.copy(result.data(), memory, sizeof result, device_to_host)) {
    return words_of(hip, "hipMemcpy", error);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (result[i] != proof_value(i, seed)) return "the kernel gave wrong results";
  }
  return "";
}

/// The processor of a device name that interview() made: "gfx90a" of "AMD Instinct MI210 (gfx90a:sramecc+:xnack-)".
std::string processor_in(const std::string& label) {
  const std::size_t open = label.rfind("(gfx");
  return open == std::string::npos ? "" : label.substr(open + 1, label.find_first_of(":)", open) - open - 1);
}

void run_kernel(RuntimeProof& proof, const CompilerChoice& compiler, std::chrono::seconds deadline) {
  const std::string target = proof.device_names->empty() ? "" : processor_in(proof.device_names->front());
  if (target.empty()) {
    proof.kernel_ran = Fact<bool>::unknown("the runtime does not say what target the GPU has");
    return;
  }
  const Compiled compiled = compile({compiler.path, compiler.kind, target, ProofSource::freestanding});
  if (!compiled.proof.built.is(true)) {
    proof.kernel_ran =
        Fact<bool>::unknown(compiler.path + " builds no kernel for " + target + ": " + *compiled.proof.message);
    return;
  }
  const WorkerEnd end = run_worker(deadline, [&](int answer) {
    write_answer(answer, launch(proof.library, compiled.object) + "\n");
    return 0;
  });
  const std::string words(trim(end.answer));
  proof.kernel_ran = end.outcome == outcome_ok && words.empty() && !end.answer.empty();
  if (*proof.kernel_ran) return;
  if (end.outcome != outcome_ok) proof.outcome = end.outcome;
  const std::string why = end.outcome == outcome_ok ? words : end.outcome + ": " + decisive_line(end.talk);
  proof.message = brief("running a kernel: " + why);
}

}  // namespace

RuntimeProof prove_runtime(const std::string& library, const std::optional<CompilerChoice>& compiler,
                           std::chrono::seconds deadline) {
  RuntimeProof proof = interview(library, deadline);
  if (proof.outcome.is(std::string(outcome_ok)) && proof.devices.value_or(0) > 0) {
    if (compiler) {
      run_kernel(proof, *compiler, deadline);
    } else {
      proof.kernel_ran = Fact<bool>::unknown("no compiler builds a kernel for it");
    }
  }
  return proof;
}

}  // namespace sage
