#include "probes/host/drm_library.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cerrno>
#include <cstdlib>

#include "probes/host/child.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sage {
namespace {

using Replies = std::vector<DrmDeviceReply>;

/// Asks the stand-in libraries of tests/shims. They are loaded by path first, so that the names libdrm.so.2 and
/// libdrm_amdgpu.so.1 mean them, whatever this machine has.
Result<Replies> ask(const std::string& scenario, const std::vector<std::string>& nodes,
                    std::chrono::milliseconds deadline = std::chrono::seconds(30)) {
  return call_in_child<Replies>("libdrm_amdgpu", deadline, [&]() -> Result<Replies> {
    setenv("SAGE_FAKE_DRM", scenario.c_str(), 1);
    const std::string folder = SAGE_TEST_SHIMS "/drm/";
    const bool loaded = dlopen((folder + "libdrm.so.2").c_str(), RTLD_NOW) != nullptr &&
                        dlopen((folder + "libdrm_amdgpu.so.1").c_str(), RTLD_NOW) != nullptr;
    if (!loaded) return Error{0, dlerror()};
    return ask_drm_library(nodes);
  });
}

}  // namespace

TEST_CASE("libdrm tells name, memory and address of a render node") {
  const TemporaryFolder folder;
  const std::string node = folder.write("renderD128", "");
  const auto replies = ask("", {node});
  REQUIRE(replies.ok());
  REQUIRE(replies->size() == 1);
  CHECK(replies->front().render_node == node);
  CHECK(replies->front().pci_address == "0000:03:00.0");
  CHECK(replies->front().marketing_name == "AMD Radeon RX 9070 XT");
  CHECK(replies->front().vram_bytes == std::uint64_t{16} << 30);
  CHECK(ask("nameless", {node})->front().marketing_name.empty());
  CHECK(ask("print", {node}).ok());
}

TEST_CASE("a node that does not answer is left out, none at all is an error") {
  const TemporaryFolder folder;
  const std::string node = folder.write("renderD128", "");
  CHECK(ask("", {folder.path("renderD129"), node})->size() == 1);
  CHECK(ask("", {folder.path("renderD129")}).error().number == ENOENT);
  CHECK(ask("refuse", {node}).error().number == EACCES);
  CHECK(ask("", {})->empty());
}

TEST_CASE("a libdrm that aborts, exits or hangs is survived") {
  const TemporaryFolder folder;
  const std::string node = folder.write("renderD128", "");
  CHECK(ask("abort", {node}).error().text == "libdrm_amdgpu: crashed with signal 6");
  CHECK(ask("exit", {node}).error().text == "libdrm_amdgpu: ended its process with status 9");
  CHECK(ask("hang", {node}, std::chrono::milliseconds(500)).error().number == ETIMEDOUT);
}

}  // namespace sage
