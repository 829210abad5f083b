// One function a parser, for libFuzzer and for the deterministic mutation test alike. Each touches everything that a
// parser returns, so that a slice outside of the input is seen by a sanitizer.
#pragma once

#include "code_object/bytes.hpp"

namespace sage::fuzz {

void feed_code_object(code_object::ByteSpan input);
void feed_metadata(code_object::ByteSpan input);
void feed_bundle(code_object::ByteSpan input);
void feed_compressed(code_object::ByteSpan input);
void feed_cubin(code_object::ByteSpan input);
void feed_names(code_object::ByteSpan input);  // target ids and bundle ids

}  // namespace sage::fuzz
