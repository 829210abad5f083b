#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "doctor/build/compile/units.hpp"

namespace sage {

// What is built from: compiled into this program, so that an installed one needs no source tree.

/// The device text: all kernels for every target.
[[nodiscard]] std::string_view device_text();

/// SHA-256 of the device text, as sha256_hex() writes it; computed when this program was built.
[[nodiscard]] std::string device_text_digest();

[[nodiscard]] std::string_view attention_header();

/// libsage_attention.so.1, which loads and launches the code objects.
[[nodiscard]] std::string_view attention_library();

/// The object of a unit that was made together with this program; nullopt: there is none.
[[nodiscard]] std::optional<std::string> prebuilt_object(std::string_view target, const Unit& unit);

}  // namespace sage
