// SHA-256 of the device text, in hex; made together with the text (source_digest.cmake).
#pragma once

namespace sage::runtime {

extern const char* const source_digest;

}  // namespace sage::runtime
