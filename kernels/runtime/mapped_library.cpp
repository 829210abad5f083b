#include "mapped_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>

namespace sage::runtime {
namespace {

struct Search {
  std::string_view stem;
  std::vector<std::string> found;
};

int visit(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with(search.stem) || !file.substr(search.stem.size()).starts_with(".so")) return 0;
  search.found.emplace_back(path);
  return 0;
}

const char* last_error() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  struct stat left {};
  struct stat right {};
  if (stat(a.c_str(), &left) != 0 || stat(b.c_str(), &right) != 0) return a == b;
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

std::vector<std::string> mapped_libraries(std::string_view stem) {
  Search search{stem, {}};
  dl_iterate_phdr(visit, &search);
  std::vector<std::string> distinct;
  for (std::string& path : search.found) {
    const bool known =
        std::any_of(distinct.begin(), distinct.end(), [&](const std::string& other) { return same_file(path, other); });
    if (!known) distinct.push_back(std::move(path));
  }
  return distinct;
}

void Library::Closer::operator()(void* handle) const {
  dlclose(handle);
}

Failure Library::adopt(const std::string& path, Library& library) {
  library.handle_.reset(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD));
  if (library.handle_ == nullptr)
    return fail(SAGE_E_NO_RUNTIME, "%s is mapped but has no handle: %s", path.c_str(), last_error());
  library.path_ = path;
  return success();
}

Failure Library::load(const std::string& path, Library& library) {
  library.handle_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library.handle_ == nullptr) return fail(SAGE_E_NO_RUNTIME, "cannot load %s: %s", path.c_str(), last_error());
  library.path_ = path;
  return success();
}

void* Library::symbol(const char* name) const {
  return dlsym(handle_.get(), name);
}

}  // namespace sage::runtime
