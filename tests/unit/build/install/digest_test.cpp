#include "doctor/build/install/digest.hpp"

#include <doctest/doctest.h>

namespace sage {

TEST_CASE("digests are those of FIPS 180-4") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(sha256_hex(std::string("\0\xff", 2)) == "06eb7d6a69ee19e5fbdf749018d3d2abfa04bcbd1365db312eb86dc7169389b8");
}

TEST_CASE("a record's digest is URL-safe base64 without padding") {
  // base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=") of Python
  CHECK(sha256_base64url("") == "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
  CHECK(sha256_base64url("abc") == "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
}

TEST_CASE("only 64 lower-case hex digits are a digest") {
  CHECK(is_sha256_hex(sha256_hex("x")));
  CHECK_FALSE(is_sha256_hex(""));
  CHECK_FALSE(is_sha256_hex(std::string(63, 'a')));
  CHECK_FALSE(is_sha256_hex(std::string(64, 'A')));
  CHECK_FALSE(is_sha256_hex(std::string(64, '/')));
}

}  // namespace sage
