#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/support/memory_host.hpp"

namespace sage {

/// A machine that has only the public KFD topology `name` ("mi308x"), read from ../shared/data/kfd beside the source
/// tree. nullopt, with a message in the test's log, where that folder does not exist.
[[nodiscard]] std::optional<MemoryHost> load_kfd_tree(const std::string& name);

/// The properties file of a GPU node, derived from a real gfx1201's figures; `changes` replace or add keys, and remove
/// those whose value is empty.
[[nodiscard]] std::string kfd_properties(const std::map<std::string, std::string>& changes = {});

/// Adds KFD node `number` with this properties text. `gpu_id` 0 makes it a CPU node's.
void add_kfd_node(MemoryHost& host, int number, const std::string& properties, std::uint32_t gpu_id);

/// Adds a CPU node.
void add_kfd_cpu(MemoryHost& host, int number);

}  // namespace sage
