// The driver library that the process has mapped already.
//
// PyTorch brings its own libamdhip64; a second copy in the same process has its own device state, and a stream of the
// one is garbage to the other. So the library is looked for among what the dynamic linker has loaded, by file name, and
// only if there is none may a named file be opened. File names are what can be relied on: wheels have libamdhip64.so
// with the soname libamdhip64.so.6, distributions libamdhip64.so.5.2.50203.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"

namespace sage::runtime {

// Paths of the mapped libraries whose file name starts with `stem` followed by ".so", in load order; each file once,
// however many names it has been opened under.
[[nodiscard]] std::vector<std::string> mapped_libraries(std::string_view stem);

class Library {
 public:
  // A handle of a library that is mapped; never loads anything.
  [[nodiscard]] static Failure adopt(const std::string& path, Library& library);
  // Loads the file.
  [[nodiscard]] static Failure load(const std::string& path, Library& library);

  [[nodiscard]] void* symbol(const char* name) const;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Closer {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Closer> handle_;
  std::string path_;
};

// True when both names lead to one file.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace sage::runtime
