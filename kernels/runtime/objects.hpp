// Turns what a caller hands over (files of a folder, blocks of memory) into the modules that a GPU can load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver.hpp"
#include "failure.hpp"

namespace sage::runtime {

struct KernelFacts {
  std::string name;
  std::uint32_t argument_bytes = 0;  // 0: the format does not say (cubin, PTX)
  std::uint32_t max_threads = 0;     // 0: the format does not say
};

// A module of the right target.
struct Candidate {
  std::string origin;  // file name, or "object 3", for messages
  std::vector<std::byte> image;
  std::vector<KernelFacts> kernels;
  bool exact = true;  // not for a generic or an older processor
};

struct Offered {
  std::string origin;
  std::vector<std::byte> bytes;
};

// Reads the files of a folder that have the name of a code object, in the order of their names.
[[nodiscard]] Failure read_folder(const char* folder, std::vector<Offered>& offered);

// Those that fit `device`, exact targets first. Bundles are opened. A damaged one is an error; none that fits is
// SAGE_E_OBJECT_TARGET with the targets that were there.
[[nodiscard]] Failure select(std::vector<Offered> offered, Api api, const Device& device,
                             std::vector<Candidate>& candidates);

}  // namespace sage::runtime
