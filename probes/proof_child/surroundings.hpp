#pragma once

#include <sys/resource.h>

namespace sage {

/// Makes this process and what it starts a decent guest: limits of processor time and of file sizes; no caches, logs and
/// dependency files at the places that the user's variables name; messages in English. What decides how a compile of the
/// user ends (HIP_DEVICE_LIB_PATH, ROCM_PATH, LD_LIBRARY_PATH ...) stays as it is.
void prepare_surroundings();

/// While it lives, what is started gets at most 16 GiB of memory. For programs only: ROCm's libraries map hundreds of
/// gigabytes of address space for a GPU.
class MemoryLimit {
 public:
  MemoryLimit();
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace sage
