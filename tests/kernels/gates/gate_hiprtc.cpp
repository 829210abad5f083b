// Usage: gate_hiprtc DEVICE_TEXT LIBAMDHIP64. The text through hipRTC in memory, as it has to work for those who have
// nothing but a PyTorch wheel. In a child process: hipRTC of ROCm 5.2 ends the whole process on a target that it does
// not know, so it is asked for gfx90a alone. Status 77: no such library, or one without hipRTC.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "object_check.hpp"
#include "programs.hpp"

namespace {

constexpr int skipped = 77;
constexpr int only_dp = 64;

template <class F>
F bind(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

int compile(const char* path, const std::string& text, const std::string& output) {
  using Program = void*;
  alarm(800);
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("skipped: %s\n", dlerror());
    return skipped;
  }
  const auto create = bind<int (*)(Program*, const char*, const char*, int, const char**, const char**)>(
      library, "hiprtcCreateProgram");
  const auto build = bind<int (*)(Program, int, const char**)>(library, "hiprtcCompileProgram");
  const auto log_size = bind<int (*)(Program, std::size_t*)>(library, "hiprtcGetProgramLogSize");
  const auto log = bind<int (*)(Program, char*)>(library, "hiprtcGetProgramLog");
  const auto code_size = bind<int (*)(Program, std::size_t*)>(library, "hiprtcGetCodeSize");
  const auto code = bind<int (*)(Program, char*)>(library, "hiprtcGetCode");
  if (create == nullptr || build == nullptr || log_size == nullptr || log == nullptr || code_size == nullptr ||
      code == nullptr) {
    std::printf("skipped: %s has no hipRTC inside\n", path);
    return skipped;
  }
  Program program = nullptr;
  if (create(&program, text.c_str(), "sage_kernels.hip", 0, nullptr, nullptr) != 0) return 1;
  const char* options[] = {"--offload-arch=gfx90a", "-O3", "-std=c++17", "-DSAGE_ONLY", "-DSAGE_PICK_sage_prologue",
                           "-DSAGE_PICK_sage_attention_d64_F16_LONG", "-DSAGE_PICK_sage_attention_d64_F16_SHORT"};
  const int result = build(program, static_cast<int>(std::size(options)), options);
  std::size_t size = 0;
  if (result != 0) {
    log_size(program, &size);
    std::string messages(size, ' ');
    log(program, messages.data());
    std::printf("FAIL hipRTC error %d:\n%s\n", result, messages.c_str());
    return 1;
  }
  if (code_size(program, &size) != 0) return 1;
  std::string bytes(size, '\0');
  if (code(program, bytes.data()) != 0) return 1;
  sage::test::write_file(output, bytes);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const sage::test::TemporaryFolder folder;
  const std::string output = (folder.path() / "gfx90a.hsaco").string();
  std::ifstream file{argv[1], std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
  const pid_t pid = fork();
  if (pid == 0) {
    const int status = compile(argv[2], text, output);
    std::fflush(stdout);
    _exit(status);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
  if (WIFSIGNALED(status)) {
    std::printf("FAIL hipRTC ended the process with signal %d\n", WTERMSIG(status));
    return 1;
  }
  if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
  return sage::gates::check_old_object(sage::test::read_file(output), "gfx90a", only_dp) ? 0 : 1;
}
