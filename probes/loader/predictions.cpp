// Which runtime does a process end up with? The loader alone decides (loader.cpp); what differs is who asks first. So
// each scenario is a short list of things that a process opens, told to the model one after the other, from the
// interpreter of the first environment on: its DT_RPATH reaches into everything that it opens.

#include "probes/loader/predictions.hpp"

#include <algorithm>
#include <utility>

#include "probes/base/paths.hpp"
#include "probes/loader/extensions.hpp"
#include "probes/loader/load_story.hpp"
#include "probes/look.hpp"

namespace sage {
namespace {

constexpr std::size_t most_sonames = 4;
constexpr std::size_t most_requests = 64;
constexpr std::size_t most_unmet = 64;
constexpr const char* example_file = "example-extension.so";

/// A process and what went wrong in it.
class Process {
 public:
  Process(LoaderFiles& files, const std::string& program) : loader_(files) { loader_.start(program); }
  explicit Process(Loader loader) : loader_(std::move(loader)) {}

  /// dlopen by `module`, a path that was opened before, or where that is empty by the interpreter; with something
  /// missing the process stays as it was.
  bool open(const std::string& name, const std::string& module = {}) {
    return attempt([&] { return loader_.open(name, caller(module)); }, name);
  }
  bool open_example(const ElfFacts& elf, const std::string& folder) {
    return attempt([&] { return loader_.open_described(elf, folder, example_file); }, example_file);
  }
  /// As open(), but that the name is not found is nothing to tell.
  void try_to_open(const std::string& name, const std::string& module = {}) {
    const std::vector<std::string> told = missing_;
    open(name, module);
    missing_ = told;
  }

  [[nodiscard]] const Loader& loader() const { return loader_; }
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  [[nodiscard]] const std::vector<LoaderRequest>& opened() const { return opened_; }
  [[nodiscard]] std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const LoadedObject& object : loader_.objects()) all.push_back(object.path);
    return all;
  }

 private:
  template <class Open>
  bool attempt(const Open& how, const std::string& name) {
    const Loader before = loader_;
    const std::size_t first = loader_.objects().size();
    LoaderRequest request = how();
    std::vector<std::string> missing = loader_.missing(first);
    if (!request.object) missing.insert(missing.begin(), name);
    if (missing.empty()) {
      opened_.push_back(std::move(request));
      return true;
    }
    loader_ = before;
    missing_.insert(missing_.end(), missing.begin(), missing.end());
    return false;
  }

  /// Extensions are opened by libpython where the interpreter has it apart.
  [[nodiscard]] std::size_t caller(const std::string& module) const {
    const auto& objects = loader_.objects();
    std::size_t interpreter = 0;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (!module.empty() && objects[i].path == module) return i;
      if (interpreter == 0 && file_name(objects[i].path).starts_with("libpython")) interpreter = i;
    }
    return interpreter;
  }

  Loader loader_;
  std::vector<LoaderRequest> opened_;
  std::vector<std::string> missing_;
};

class Predictor {
 public:
  Predictor(LoaderFiles& files, const Python& python, const std::vector<FoundLibrary>& copies)
      : files_(files), copies_(copies), environment_(python.environments->empty() ? nullptr
                                                                                 : &python.environments->front()) {}

  std::vector<LoadPrediction> run() {
    plain_programs();
    if (environment_ != nullptr) python_scenarios();
    return std::move(predictions_);
  }

 private:
  void plain_programs() {
    std::vector<std::string> wanted = hip_sonames();
    std::vector<LoadPrediction> found;
    for (const std::string& soname : wanted) {
      Loader loader(files_);
      loader.start_plain({soname});
      const Process process(loader);
      LoadPrediction prediction = describe(process, LoadScenario::program, soname, true);
      prediction.missing = loader.missing();
      // Of the majors that lie about, a program needs the one that it was built for.
      if (loader.missing().empty() || (soname == wanted.back() && found.empty())) found.push_back(std::move(prediction));
    }
    std::move(found.begin(), found.end(), std::back_inserter(predictions_));
  }

  void python_scenarios() {
    const Process start(files_, environment_->executable);
    Process with_torch = start;
    std::string torch_subject;
    if (const TorchInstall* torch = rocm_torch()) {
      const std::vector<std::string> opened = torch_libraries(files_, *environment_, *torch);
      if (opened.empty()) return unknown_torch(*torch);
      torch_subject = opened.back();
      open_all(with_torch, opened);
      predictions_.push_back(describe(with_torch, LoadScenario::torch, torch_subject, false));
      torch_opened_ = opened;
    }
    const std::vector<HipExtension> extensions = hip_extensions(files_, *environment_);
    for (const HipExtension& extension : extensions) extension_scenarios(start, with_torch, extension);
    if (torch_subject.empty() || !with_torch.missing().empty()) return;
    if (extensions.empty()) example_scenarios(start, with_torch);
    triton_scenario(with_torch);
    bare_name_scenario(with_torch);
  }

  /// Stops at the first that fails, as the import does.
  static void open_all(Process& process, const std::vector<std::string>& opened) {
    for (const std::string& path : opened) {
      if (!process.open(path)) return;
    }
  }

  void extension_scenarios(const Process& start, const Process& with_torch, const HipExtension& found) {
    const std::string& extension = found.path;
    const bool has_torch = !torch_opened_.empty() && with_torch.missing().empty();
    if (has_torch) {
      Process process = with_torch;
      process.open(extension);
      predictions_.push_back(describe(process, LoadScenario::torch_then_extension, extension, false));
    }
    if (found.imports_torch) return;
    Process alone = start;
    const bool loads = alone.open(extension);
    predictions_.push_back(describe(alone, LoadScenario::extension, extension, false));
    if (!has_torch || !loads) return;
    open_all(alone, torch_opened_);
    predictions_.push_back(describe(alone, LoadScenario::extension_then_torch, extension, false));
  }

  /// An extension as hipcc builds it against the system's ROCm: DT_NEEDED by SONAME, DT_RUNPATH of that ROCm.
  void example_scenarios(const Process& start, const Process& with_torch) {
    const auto system = std::find_if(copies_.begin(), copies_.end(), [](const FoundLibrary& copy) {
      return copy.place.origin.is(LibraryOrigin::rocm_root) && runtime_library_of(file_name(copy.path)) == RuntimeLibrary::amdhip64;
    });
    if (system == copies_.end()) return;
    ElfFacts elf;
    elf.needed = {soname_of(*system)};
    elf.runpath = {system->place.folder};
    Process after = with_torch;
    after.open_example(elf, "/tmp");
    predictions_.push_back(describe(after, LoadScenario::torch_then_extension, example_file, true));
    Process before = start;
    if (!before.open_example(elf, "/tmp")) return;
    open_all(before, torch_opened_);
    predictions_.push_back(describe(before, LoadScenario::extension_then_torch, example_file, true));
  }

  void triton_scenario(const Process& with_torch) {
    const auto& packages = environment_->packages;
    const bool there = packages.known() && std::any_of(packages->begin(), packages->end(), [](const PythonPackage& one) {
      return one.name == "triton" || one.name == "triton-rocm" || one.name == "pytorch-triton-rocm";
    });
    if (!there) return;
    const std::string library = triton_library(files_, *environment_, with_torch.paths());
    Process process = with_torch;
    if (!library.empty()) process.open(library);
    LoadPrediction prediction = describe(process, LoadScenario::triton, library, false);
    if (library.empty()) prediction.missing = std::vector<std::string>{"libamdhip64.so"};
    predictions_.push_back(std::move(prediction));
  }

  /// By ctypes, whose module has a search path of its own in some builds of Python.
  void bare_name_scenario(const Process& with_torch) {
    const std::string ctypes = ctypes_module(files_, *environment_);
    Process process = with_torch;
    if (!ctypes.empty()) process.try_to_open(ctypes);
    for (const char* name : {"libamdhip64.so", "libhiprtc.so"}) process.try_to_open(name, ctypes);
    predictions_.push_back(describe(process, LoadScenario::bare_name, "libamdhip64.so", false));
  }

  void unknown_torch(const TorchInstall& torch) {
    LoadPrediction prediction;
    prediction.scenario = LoadScenario::torch;
    prediction.subject = torch.folder;
    prediction.example = false;
    const Error why{0, torch.folder + "/lib: no library to begin with"};
    prediction.copies = prediction.requests = Fact<std::vector<LoadedCopy>>::unknown(why);
    prediction.missing = Fact<std::vector<std::string>>::unknown(why);
    prediction.unmet_versions = Fact<std::vector<UnmetVersion>>::unknown(why);
    predictions_.push_back(std::move(prediction));
  }

  [[nodiscard]] const TorchInstall* rocm_torch() const {
    const auto& torch = environment_->torch;
    if (!torch.known() || torch->empty() || !torch->front().flavour.is(TorchFlavour::rocm)) return nullptr;
    return &torch->front();
  }

  [[nodiscard]] std::string soname_of(const FoundLibrary& copy) {
    const LoaderFile* file = files_.file(copy.path);
    const bool named = file != nullptr && file->elf != nullptr && !file->elf->soname.empty();
    return named ? file->elf->soname : file_name(copy.path);
  }

  /// Of every libamdhip64, each once, the oldest first.
  [[nodiscard]] std::vector<std::string> hip_sonames() {
    std::vector<std::string> names;
    for (const FoundLibrary& copy : copies_) {
      if (runtime_library_of(file_name(copy.path)) != RuntimeLibrary::amdhip64) continue;
      std::string name = soname_of(copy);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    if (names.size() > most_sonames) names.erase(names.begin(), names.end() - static_cast<std::ptrdiff_t>(most_sonames));
    return names;
  }

  // ---- from the process to the facts

  /// A runtime library by the name that it has in the list of copies; any other file as it was opened.
  [[nodiscard]] std::string name_of(const LoadedObject& object) const {
    const auto copy = std::find_if(copies_.begin(), copies_.end(), [&](const FoundLibrary& one) {
      return !object.path.empty() && one.identity.same_as(object.identity);
    });
    return copy == copies_.end() ? object.path : copy->path;
  }

  [[nodiscard]] LoadedCopy copy_of(const LoadedObject& object, const LoaderRequest& request,
                                   const std::string& requester) const {
    LoadedCopy copy;
    copy.path = name_of(object);
    copy.library = *runtime_library_of(object);
    copy.requester = requester;
    copy.rule = request.reason;
    return copy;
  }

  [[nodiscard]] LoadPrediction describe(const Process& process, LoadScenario scenario, const std::string& subject,
                                        bool example) const {
    LoadPrediction prediction;
    prediction.scenario = scenario;
    prediction.subject = subject;
    prediction.example = example;
    const auto& objects = process.loader().objects();
    std::vector<LoadedCopy> copies;
    std::vector<LoadedCopy> requests;
    std::vector<std::pair<std::size_t, LoadedCopy>> by_object;
    const auto note = [&](const LoaderRequest& request, const std::string& requester) {
      if (!request.object || !runtime_library_of(objects[*request.object])) return;
      LoadedCopy copy = copy_of(objects[*request.object], request, requester);
      if (request.loaded) by_object.emplace_back(*request.object, copy);
      if (requests.size() < most_requests) requests.push_back(std::move(copy));
    };
    for (const LoaderRequest& request : process.loader().preloads()) note(request, "");
    for (const LoaderRequest& request : process.opened()) note(request, "");
    for (const LoadedObject& object : objects) {
      for (const LoaderRequest& request : object.requests) note(request, name_of(object));
    }
    std::sort(by_object.begin(), by_object.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [index, copy] : by_object) copies.push_back(std::move(copy));
    prediction.copies = std::move(copies);
    prediction.requests = std::move(requests);
    prediction.missing = process.missing();
    prediction.unmet_versions = unmet(objects);
    return prediction;
  }

  [[nodiscard]] std::vector<UnmetVersion> unmet(const std::vector<LoadedObject>& objects) const {
    std::vector<UnmetVersion> gaps;
    for (const LoadedObject& object : objects) {
      for (const ElfVersionNeed& need : object.elf->version_needs) {
        const auto request = std::find_if(object.requests.begin(), object.requests.end(), [&](const LoaderRequest& one) {
          return one.object && one.name == need.library;
        });
        if (request == object.requests.end()) continue;
        const LoadedObject& library = objects[*request->object];
        const auto& has = library.elf->version_definitions;
        if (has.empty()) continue;  // a library without versions serves every one of them
        for (const std::string& version : need.versions) {
          if (std::find(has.begin(), has.end(), version) != has.end() || gaps.size() >= most_unmet) continue;
          gaps.push_back({object.path, library.path, version, served_by_system(need.library, version)});
        }
      }
    }
    return gaps;
  }

  /// The system's copy of `library` when it has the version; empty otherwise. Only the loader's cache is asked: what
  /// else lies about was put there by somebody else than the distribution.
  [[nodiscard]] std::string served_by_system(const std::string& library, const std::string& version) const {
    for (const std::string& path : files_.cached(library)) {
      const LoaderFile* file = files_.file(path);
      if (file == nullptr || file->elf == nullptr) continue;
      const auto& has = file->elf->version_definitions;
      return std::find(has.begin(), has.end(), version) == has.end() ? "" : path;
    }
    return "";
  }

  LoaderFiles& files_;
  const std::vector<FoundLibrary>& copies_;
  const PythonEnvironment* environment_;
  std::vector<std::string> torch_opened_;
  std::vector<LoadPrediction> predictions_;
};

}  // namespace

Fact<std::vector<LoadPrediction>> predict_loads(LoaderFiles& files, const Python& python,
                                                const std::vector<FoundLibrary>& copies) {
  using Predictions = Fact<std::vector<LoadPrediction>>;
  const auto libc = files.host().libc();
  if (libc.ok() && libc->name != "glibc") return Predictions::unknown(libc->name + " has a loader with other rules");
  if (!python.environments.known()) return Predictions::unknown(python.environments.why_unknown());
  std::vector<LoadPrediction> predictions = Predictor(files, python, copies).run();
  if (files.trouble()) return Predictions::unknown(*files.trouble());
  return predictions;
}

}  // namespace sage
