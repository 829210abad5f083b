#pragma once

#include <string>

#include "doctor/inspect/inspection.hpp"
#include "kernels/code_object/bytes.hpp"

namespace sage {

/// Fills in what the bytes of a code object say: target, version, kernels, or why they could not be read. The object
/// has its bundle id already, where it comes from a bundle, and a target that differs from it is a contradiction.
void read_object(code_object::ByteSpan bytes, InspectedObject& object);

}  // namespace sage
