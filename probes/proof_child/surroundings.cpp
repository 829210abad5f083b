#include "probes/proof_child/surroundings.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace sage {
namespace {

// They print into the answer, write beside the private folder, or wait for a person.
constexpr const char* unwanted[] = {
    "AMD_COMGR_EMIT_VERBOSE_LOGS", "AMD_COMGR_REDIRECT_LOGS", "AMD_COMGR_SAVE_TEMPS", "AMD_LOG_LEVEL",
    "AMD_LOG_LEVEL_FILE",          "CCC_OVERRIDE_OPTIONS",    "CC_LOG_DIAGNOSTICS",   "CC_PRINT_HEADERS",
    "CC_PRINT_OPTIONS",            "DEPENDENCIES_OUTPUT",     "HIPCC_VERBOSE",        "PYTHONBREAKPOINT",
    "PYTHONDUMPREFS",              "PYTHONINSPECT",           "PYTHONMALLOCSTATS",    "PYTHONPROFILEIMPORTTIME",
    "PYTHONVERBOSE",               "PYTORCH_TUNABLEOP_ENABLED", "SUNPRO_DEPENDENCIES",
};

// comgr's cache lies in the home folder (facts/wheels.md 2.8); ccache may stand in for a compiler.
constexpr std::pair<const char*, const char*> wanted[] = {
    {"AMD_COMGR_CACHE", "0"}, {"CCACHE_DISABLE", "1"},       {"LC_ALL", "C"},
    {"NO_COLOR", "1"},        {"PYTHONDONTWRITEBYTECODE", "1"}, {"TERM", "dumb"},
};

constexpr rlim_t gigabyte = rlim_t{1} << 30;
constexpr rlim_t most_processor_seconds = 120;
constexpr rlim_t largest_file = gigabyte;
constexpr rlim_t most_memory_of_a_program = 16 * gigabyte;

template <class Resource>
void limit(Resource resource, rlim_t most) {
  rlimit now = {};
  if (getrlimit(resource, &now) != 0) return;
  now.rlim_cur = std::min(now.rlim_max, most);
  setrlimit(resource, &now);
}

}  // namespace

void prepare_surroundings() {
  for (const char* name : unwanted) unsetenv(name);
  for (const auto& [name, value] : wanted) setenv(name, value, 1);
  limit(RLIMIT_CPU, most_processor_seconds);
  limit(RLIMIT_FSIZE, largest_file);
}

MemoryLimit::MemoryLimit() {
  getrlimit(RLIMIT_AS, &before_);
#if !defined(__SANITIZE_ADDRESS__)  // whose shadow memory takes terabytes of addresses
  limit(RLIMIT_AS, most_memory_of_a_program);
#endif
}

MemoryLimit::~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }

}  // namespace sage
