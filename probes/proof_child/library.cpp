#include "probes/proof_child/library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "probes/host/child.hpp"
#include "probes/proof_child/outcome.hpp"

namespace sage {
namespace {

constexpr std::size_t answer_cap = 1024 * 1024;
constexpr std::size_t talk_cap = 1024 * 1024;

}  // namespace

Library::Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* words = dlerror();
  problem_ = words == nullptr ? "unknown loader error" : words;
}

Library Library::already_loaded(const char* name) {
  Library found;
  found.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return found;
}

void* Library::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

void load_comgr_beside(const std::string& library) {
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  for (const char* name : comgr_names) {
    if (access((folder + name).c_str(), R_OK) != 0) continue;
    if (Library(folder + name).loaded()) return;
  }
}

WorkerEnd run_worker(std::chrono::seconds deadline, const std::function<int(int answer)>& work) {
  const auto body = [&](const std::vector<int>& pipes) {
    dup2(pipes[1], STDOUT_FILENO);
    dup2(pipes[1], STDERR_FILENO);
    const int status = work(pipes[0]);
    std::fflush(nullptr);
    return status;
  };
  const auto end = run_child(body, {answer_cap, talk_cap}, deadline);
  if (!end) return {"could not be started", "", end.error().text};
  return {outcome_of(*end, deadline), end->streams[0].bytes, end->streams[1].bytes};
}

void write_answer(int pipe, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = write(pipe, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace sage
