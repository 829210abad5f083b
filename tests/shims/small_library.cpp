// A library whose soname, names, symbols and strings the ELF tests know.

extern "C" {

void sage_test_needs_this();

__attribute__((visibility("default"))) const char* sage_test_defines_this() {
  return "librocdxg.so stands in the read-only data";
}

__attribute__((visibility("default"))) void sage_test_calls() {
  sage_test_needs_this();
}

__attribute__((visibility("default"))) const char* sage_test_weak() __attribute__((weak));
const char* sage_test_weak() {
  return "weak";
}
}
