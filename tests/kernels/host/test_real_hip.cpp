// The installed libamdhip64 in a child process: it may abort, and it must not be mapped into the tests. Where no GPU is
// present the library has to say so; where one is present a context for it is not possible with no objects for it.
// Status 77: no such library.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "elf_builder.hpp"
#include "sage/attention.h"

namespace {

// Exit status of the child: 0 as expected, 1 not.
int child(const char* path) {
  alarm(60);
  const auto file = sage::test::build_object().file;
  const sage_object object{file.data(), file.size()};
  sage_context_options options{};
  options.struct_size = sizeof options;
  options.version = SAGE_ATTENTION_VERSION;
  options.api = SAGE_API_HIP;
  options.runtime_path = path;
  sage_context* context = nullptr;
  sage_error error{};
  const sage_status status = sage_context_from_memory(&object, 1, &options, &context, &error);
  std::printf("%s: status %d, driver code %d, \"%s\"\n", path, status, error.driver_code, error.text);
  std::fflush(stdout);
  const bool without_gpu = status == SAGE_E_NO_DEVICE && error.driver_code != 0;
  const bool with_gpu =
      status == SAGE_E_OBJECT_TARGET || status == SAGE_E_OBJECT_KERNELS || status == SAGE_E_UNSUPPORTED_TARGET;
  return context == nullptr && (without_gpu || with_gpu) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (access(argv[1], R_OK) != 0) {
    std::printf("skipped: there is no %s\n", argv[1]);
    return 77;
  }
  const pid_t pid = fork();
  if (pid == 0) _exit(child(argv[1]));
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
  if (WIFSIGNALED(status)) {
    std::printf("the library ended the process with signal %d\n", WTERMSIG(status));
    return 1;
  }
  return WEXITSTATUS(status);
}
