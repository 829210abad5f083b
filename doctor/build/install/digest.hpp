#pragma once

#include <string>
#include <string_view>

namespace sage {

/// SHA-256 of the bytes as 64 lower-case hex digits (FIPS 180-4).
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// SHA-256 of the bytes in URL-safe base64 without padding: the form that a wheel's RECORD has after "sha256=" (PEP
/// 376, PEP 427).
[[nodiscard]] std::string sha256_base64url(std::string_view bytes);

/// True for what sha256_hex() may return.
[[nodiscard]] bool is_sha256_hex(std::string_view text);

}  // namespace sage
