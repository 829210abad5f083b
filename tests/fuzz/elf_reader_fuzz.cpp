#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "probes/host/descriptor.hpp"
#include "probes/host/elf_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sage::Descriptor file(memfd_create("elf", MFD_CLOEXEC));
  if (write(file.number(), data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto facts = sage::read_elf(file.number(), {{"malloc", "sage_test_defines_this"}, {"librocdxg.so"}});
  if (facts.ok() && facts->symbols.size() != 2) std::abort();
  return 0;
}
