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
  const sage::ElfQuery symbols = {{"malloc", "sage_test_defines_this"}, {"librocdxg.so"}};
  const auto facts = sage::read_elf(file.number(), symbols);
  if (facts.ok() && facts->symbols.size() != 2) std::abort();
  // Apart, since one damaged answer hides the others.
  (void)sage::read_elf(file.number(), {{}, {}, true, false});
  (void)sage::read_elf(file.number(), {{}, {}, false, true});
  (void)sage::read_elf_exports(file.number(), 100);
  return 0;
}
