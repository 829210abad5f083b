#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace sage {

/// A shared library of somebody else. It is never unloaded: ROCm's libraries do not survive that. Use it only in a
/// child that ends without running their exit handlers.
class Library {
 public:
  /// By absolute path.
  explicit Library(const std::string& path);

  /// The one of this name that is in the process already; not loaded() when there is none.
  [[nodiscard]] static Library already_loaded(const char* name);

  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  /// The loader's words when it is not loaded.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// nullptr when the library has no such symbol.
  template <class Function>
  [[nodiscard]] Function find(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  Library() = default;
  [[nodiscard]] void* symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string problem_;
};

/// The names that comgr has had, the newest first.
inline constexpr std::array comgr_names = {"libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};

/// Loads the libamd_comgr that lies beside `library`, if there is one: hipRTC asks for it by its bare SONAME, and gets
/// the system's if none is loaded yet (facts/wheels.md 2.11).
void load_comgr_beside(const std::string& library);

/// What came of work in a child.
struct WorkerEnd {
  std::string outcome;  ///< as of CompileProof
  std::string answer;   ///< what `work` wrote to its pipe, at most 1 MiB
  std::string talk;     ///< its stdout and stderr, at most 1 MiB
};

/// Runs `work` in a child; it gets the descriptor for its answer and returns the exit status.
[[nodiscard]] WorkerEnd run_worker(std::chrono::seconds deadline, const std::function<int(int answer)>& work);

/// Writes all of `text`; an answer that nobody takes is none.
void write_answer(int pipe, std::string_view text);

}  // namespace sage
