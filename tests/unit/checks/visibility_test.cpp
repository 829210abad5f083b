#include "doctor/checks/visibility.hpp"

#include <doctest/doctest.h>

namespace sage {
namespace {

using Order = std::vector<std::size_t>;

Gpu gpu(std::uint32_t kfd_index, std::string uuid) {
  Gpu gpu;
  gpu.id = "0000:0" + std::to_string(kfd_index) + ":00.0";
  gpu.in_kfd = true;
  gpu.kfd_readable = true;
  gpu.kfd_index = kfd_index;
  gpu.uuid = std::move(uuid);
  gpu.render_node = "/dev/dri/renderD" + std::to_string(128 + kfd_index);
  return gpu;
}

Facts three_gpus() {
  Facts facts;
  facts.platform.kind = PlatformKind::bare_metal;
  facts.gpus.amd = std::vector<Gpu>{gpu(0, "GPU-aa11"), gpu(1, "GPU-aa22"), gpu(2, "GPU-bb33")};
  facts.devices.dri = std::vector<DeviceNode>(3);
  for (std::size_t i = 0; i < 3; ++i) {
    DeviceNode& node = facts.devices.dri.value()[i];
    node.path = "/dev/dri/renderD" + std::to_string(128 + i);
    node.present = true;
  }
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    Variable variable;
    variable.name = name;
    variable.value = std::optional<std::string>();
    facts.environment.variables.push_back(variable);
  }
  return facts;
}

Facts with(Facts facts, std::string_view name, std::string value) {
  for (Variable& variable : facts.environment.variables) {
    if (variable.name == name) variable.value = std::optional<std::string>(std::move(value));
  }
  return facts;
}

Order hip(const Facts& facts) {
  const auto seen = visible_gpus(facts);
  REQUIRE(seen.ok());
  return seen->hip;
}

}  // namespace

TEST_CASE("without masks the order is KFD's, whatever the order of the list") {
  Facts facts = three_gpus();
  CHECK(hip(facts) == Order{0, 1, 2});
  std::swap((*facts.gpus.amd.value().begin()), facts.gpus.amd.value()[2]);
  CHECK(hip(facts) == Order{2, 1, 0});
}

TEST_CASE("a GPU outside KFD or behind a device cgroup is not enumerated") {
  Facts facts = three_gpus();
  facts.gpus.amd.value()[0].in_kfd = false;
  facts.gpus.amd.value()[1].kfd_readable = false;
  CHECK(hip(facts) == Order{2});
}

TEST_CASE("a GPU whose render node is missing is not enumerated, and the masks count without it") {
  Facts facts = three_gpus();
  facts.devices.dri.value().erase(facts.devices.dri.value().begin());
  CHECK(hip(facts) == Order{1, 2});
  CHECK(hip(with(facts, "HIP_VISIBLE_DEVICES", "2")).empty());
  facts.devices.dri = Fact<std::vector<DeviceNode>>::unknown("blanked");
  CHECK_FALSE(visible_gpus(facts).ok());
}

TEST_CASE("ROCR_VISIBLE_DEVICES orders, cuts at a bad or repeated entry, and hides all when empty") {
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "2,0")) == Order{2, 0});
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "1,7,0")) == Order{1});
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "1,1,0")) == Order{1});
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "")).empty());
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "-1")).empty());
  const auto seen = visible_gpus(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "1,7,0"));
  REQUIRE(seen->masks.size() == 1);
  CHECK(seen->masks[0].cut_at == "7");
  CHECK(seen->masks[0].before == 3);
  CHECK(seen->masks[0].after == 1);
}

TEST_CASE("a UUID counts when it begins exactly one GPU's") {
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "GPU-bb")) == Order{2});
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "GPU-aa")).empty());
  CHECK(hip(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "GPU-")).empty());
}

TEST_CASE("HIP_VISIBLE_DEVICES counts what ROCR_VISIBLE_DEVICES left") {
  const Facts facts = with(with(three_gpus(), "ROCR_VISIBLE_DEVICES", "1"), "HIP_VISIBLE_DEVICES", "1");
  CHECK(hip(facts).empty());
  CHECK(visible_gpus(facts)->runtime == Order{1});
}

TEST_CASE("HIP skips a repeated entry, takes empty as not set and then looks at CUDA_VISIBLE_DEVICES") {
  CHECK(hip(with(three_gpus(), "HIP_VISIBLE_DEVICES", "1,1,0")) == Order{1, 0});
  CHECK(hip(with(three_gpus(), "HIP_VISIBLE_DEVICES", "")) == Order{0, 1, 2});
  CHECK(hip(with(three_gpus(), "HIP_VISIBLE_DEVICES", "-1")).empty());
  CHECK(hip(with(with(three_gpus(), "HIP_VISIBLE_DEVICES", ""), "CUDA_VISIBLE_DEVICES", "2")) == Order{2});
  CHECK(hip(with(with(three_gpus(), "HIP_VISIBLE_DEVICES", "0"), "CUDA_VISIBLE_DEVICES", "2")) == Order{0});
}

TEST_CASE("under WSL the order is that of the adapters") {
  Facts facts = three_gpus();
  facts.platform.kind = PlatformKind::wsl2;
  for (Gpu& one : facts.gpus.amd.value()) one.in_kfd = Fact<bool>::unknown("no KFD under WSL");
  CHECK(hip(with(facts, "HIP_VISIBLE_DEVICES", "2")) == Order{2});
}

TEST_CASE("an unknown fact that decides is an error that names it") {
  Facts facts = three_gpus();
  facts.gpus.amd.value()[1].kfd_index = Fact<std::uint32_t>::unknown("blanked");
  CHECK(visible_gpus(facts).error().text == "gpus.amd[1].kfd_index (blanked)");
  facts = with(three_gpus(), "ROCR_VISIBLE_DEVICES", "GPU-bb");
  facts.gpus.amd.value()[0].uuid = Fact<std::string>::unknown("blanked");
  CHECK_FALSE(visible_gpus(facts).ok());
  facts = three_gpus();
  facts.environment.variables.clear();
  CHECK_FALSE(visible_gpus(facts).ok());
}

}  // namespace sage
