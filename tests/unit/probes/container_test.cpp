#include "probes/container.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "tests/support/memory_host.hpp"

namespace sage {

TEST_CASE("each engine is known by its own mark") {
  const auto with_file = [](const char* path, const char* text) {
    MemoryHost host;
    host.file(path, text);
    return probe_container(host);
  };
  CHECK(with_file("/.dockerenv", "").is(ContainerKind::docker));
  CHECK(with_file("/run/.containerenv", "").is(ContainerKind::podman));
  CHECK(with_file("/.singularity.d/runscript", "").is(ContainerKind::apptainer));
  CHECK(with_file("/run/systemd/container", "lxc\n").is(ContainerKind::lxc));
  CHECK(with_file("/run/systemd/container", "systemd-nspawn\n").is(ContainerKind::other));
  CHECK(with_file("/proc/1/cgroup", "0::/docker/0123\n").is(ContainerKind::docker));
  CHECK(with_file("/proc/self/cgroup", "0::/kubepods.slice/pod1\n").is(ContainerKind::kubernetes));
  CHECK(with_file("/proc/self/cgroup", "1:name=systemd:/lxc.payload.box\n").is(ContainerKind::lxc));
}

TEST_CASE("variables tell of engines that leave no file") {
  const auto with_variable = [](const char* name, const char* value) {
    MemoryHost host;
    host.variables[name] = value;
    return probe_container(host);
  };
  CHECK(with_variable("APPTAINER_CONTAINER", "/home/a.sif").is(ContainerKind::apptainer));
  CHECK(with_variable("SINGULARITY_CONTAINER", "/home/a.sif").is(ContainerKind::apptainer));
  CHECK(with_variable("KUBERNETES_SERVICE_HOST", "10.0.0.1").is(ContainerKind::kubernetes));
  CHECK(with_variable("container", "lxc").is(ContainerKind::lxc));
  CHECK(with_variable("container", "oci").is(ContainerKind::other));
  CHECK(with_variable("container", "").is(ContainerKind::none));
}

TEST_CASE("the most special mark wins") {
  MemoryHost host;
  host.file("/run/.containerenv", "").file("/run/.toolboxenv", "");
  CHECK(probe_container(host).is(ContainerKind::toolbox));

  MemoryHost pod;
  pod.file("/.dockerenv", "").variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  CHECK(probe_container(pod).is(ContainerKind::kubernetes));
}

TEST_CASE("a WSL distribution under systemd, and the engine's own service, are no containers") {
  MemoryHost wsl;
  wsl.file("/run/systemd/container", "wsl\n");
  CHECK(probe_container(wsl).is(ContainerKind::none));

  MemoryHost service;
  service.file("/proc/self/cgroup", "0::/system.slice/docker.service\n");
  CHECK(probe_container(service).is(ContainerKind::none));
}

TEST_CASE("a container of WSL is known by the mounts of its runtime") {
  MemoryHost host;
  host.file("/.dockerenv", "").file("/proc/sys/kernel/osrelease", "6.18.35.2-microsoft-standard-WSL2\n");
  host.folder("/usr/lib/wsl/lib").folder("/usr/lib/wsl/drivers");
  CHECK(probe_container(host).is(ContainerKind::docker));
  host.file("/etc/ld.so.conf.d/ld.wsl.conf", "/usr/lib/wsl/lib\n");
  CHECK(probe_container(host).is(ContainerKind::wslc));
  host.entries.erase("/.dockerenv");
  CHECK(probe_container(host).is(ContainerKind::none));
}

TEST_CASE("it is unknown only when not one place could be looked at") {
  MemoryHost host;
  for (const char* path :
       {"/run/.toolboxenv", "/.singularity.d", "/var/run/secrets/kubernetes.io", "/run/.containerenv", "/.dockerenv",
        "/run/systemd/container", "/proc/self/cgroup", "/proc/1/cgroup", "/.flatpak-info"}) {
    host.failing(path, EACCES);
  }
  CHECK(probe_container(host).why_unknown().number == EACCES);
  host.entries.erase("/.dockerenv");
  CHECK(probe_container(host).is(ContainerKind::none));
}

TEST_CASE("what a container hides is named, and nothing is hidden outside") {
  CHECK_FALSE(hidden_by_container(ContainerKind::none, "/lib/firmware"));
  CHECK(hidden_by_container(ContainerKind::docker, "/lib/firmware")->text.find("/lib/firmware") != std::string::npos);
  CHECK(hidden_by_container(Fact<ContainerKind>(), "/lib/firmware")->text.find("not probed") != std::string::npos);
}

}  // namespace sage
