#include "doctor/env/environment_host.hpp"

#include <utility>

namespace sage {

EnvironmentHost::EnvironmentHost(const Host& inner, EnvironmentValues values)
    : inner_(inner), values_(std::move(values)) {}

std::map<std::string, std::string> EnvironmentHost::environment() const {
  return values_;
}

Result<std::string> EnvironmentHost::read_file(const std::string& path, std::size_t cap) const {
  return inner_.read_file(path, cap);
}

Result<std::string> EnvironmentHost::read_file_end(const std::string& path, std::size_t count) const {
  return inner_.read_file_end(path, count);
}

Result<std::vector<std::string>> EnvironmentHost::list_folder(const std::string& path) const {
  return inner_.list_folder(path);
}

Result<FileStatus> EnvironmentHost::status(const std::string& path, Links links) const {
  return inner_.status(path, links);
}

Result<std::string> EnvironmentHost::read_link(const std::string& path) const {
  return inner_.read_link(path);
}

Result<std::string> EnvironmentHost::canonical(const std::string& path) const {
  return inner_.canonical(path);
}

Errno EnvironmentHost::access_device(const std::string& path) const {
  return inner_.access_device(path);
}

Errno EnvironmentHost::open_device(const std::string& path) const {
  return inner_.open_device(path);
}

Result<std::uint64_t> EnvironmentHost::filesystem_size(const std::string& path) const {
  return inner_.filesystem_size(path);
}

ProcessIdentity EnvironmentHost::process() const {
  return inner_.process();
}

std::int64_t EnvironmentHost::now() const {
  return inner_.now();
}

Result<std::vector<Mount>> EnvironmentHost::mounts() const {
  return inner_.mounts();
}

Result<LibcInfo> EnvironmentHost::libc() const {
  return inner_.libc();
}

Result<std::vector<LoaderCacheEntry>> EnvironmentHost::loader_cache() const {
  return inner_.loader_cache();
}

Result<ElfFacts> EnvironmentHost::elf(const std::string& path, const ElfQuery& query) const {
  return inner_.elf(path, query);
}

Result<std::vector<std::string>> EnvironmentHost::kernel_log() const {
  return inner_.kernel_log();
}

Result<std::vector<DxgAdapterReply>> EnvironmentHost::dxg_adapters() const {
  return inner_.dxg_adapters();
}

Result<std::vector<DrmDeviceReply>> EnvironmentHost::drm_devices(const std::vector<std::string>& render_nodes) const {
  return inner_.drm_devices(render_nodes);
}

Result<ProgramOutput> EnvironmentHost::run_program(const std::vector<std::string>& arguments,
                                                   std::chrono::milliseconds deadline) const {
  return inner_.run_program(arguments, deadline);
}

}  // namespace sage
