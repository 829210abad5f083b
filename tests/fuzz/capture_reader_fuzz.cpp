// The bytes are a capture.toml. What reads well is asked every question, since a hand-made capture may be a maze of
// links, and is written and read again.

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "probes/host/capture_reader.hpp"
#include "probes/host/capture_toml.hpp"
#include "probes/host/captured_host.hpp"

namespace {

namespace fs = std::filesystem;

/// Made once and used for every input: the fuzzer's time should go into the reader.
const fs::path& work_folder() {
  static const fs::path folder = [] {
    std::string name = (fs::temp_directory_path() / "sage-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return fs::path(name);
  }();
  return folder;
}

sage::Result<sage::Capture> read_text(const std::string& text) {
  std::ofstream(work_folder() / "capture.toml", std::ios::binary) << text;
  return sage::read_capture(work_folder());
}

void ask_everything(const sage::Capture& capture) {
  const auto host = sage::make_captured_host(capture);
  for (const auto& [path, entry] : capture.paths) {
    for (const std::string& asked : {path, path + "/..", path + "/" + entry.target}) {
      (void)host->read_file(asked);
      (void)host->read_file_end(asked, 3);
      (void)host->list_folder(asked);
      (void)host->status(asked, sage::Links::keep);
      (void)host->read_link(asked);
      (void)host->canonical(asked);
      (void)host->open_device(asked);
      (void)host->elf(asked, {});
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto capture = read_text(std::string(reinterpret_cast<const char*>(data), size));
  if (!capture.ok()) return 0;
  ask_everything(*capture);
  // What was read can be written, and reads again. Contents would be written as files.
  sage::Capture copy = *capture;
  for (auto& [path, entry] : copy.paths) {
    entry.contents.reset();
    entry.only_end = false;
  }
  if (!read_text(sage::capture_to_toml(copy)).ok()) std::abort();
  return 0;
}
