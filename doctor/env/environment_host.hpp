#pragma once

#include "doctor/env/environment_change.hpp"
#include "probes/host/host.hpp"

namespace sage {

/// A machine with another environment: everything else is asked of `inner`. What the probes find there is what they
/// would find in a process that was given this environment.
class EnvironmentHost : public Host {
 public:
  /// `inner` must outlive this.
  EnvironmentHost(const Host& inner, EnvironmentValues values);

  [[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t cap) const override;
  [[nodiscard]] Result<std::string> read_file_end(const std::string& path, std::size_t count) const override;
  [[nodiscard]] Result<std::vector<std::string>> list_folder(const std::string& path) const override;
  [[nodiscard]] Result<FileStatus> status(const std::string& path, Links links) const override;
  [[nodiscard]] Result<std::string> read_link(const std::string& path) const override;
  [[nodiscard]] Result<std::string> canonical(const std::string& path) const override;
  [[nodiscard]] Errno access_device(const std::string& path) const override;
  [[nodiscard]] Errno open_device(const std::string& path) const override;
  [[nodiscard]] Result<std::uint64_t> filesystem_size(const std::string& path) const override;
  [[nodiscard]] std::map<std::string, std::string> environment() const override;
  [[nodiscard]] ProcessIdentity process() const override;
  [[nodiscard]] std::int64_t now() const override;
  [[nodiscard]] Result<std::vector<Mount>> mounts() const override;
  [[nodiscard]] Result<LibcInfo> libc() const override;
  [[nodiscard]] Result<std::vector<LoaderCacheEntry>> loader_cache() const override;
  [[nodiscard]] Result<ElfFacts> elf(const std::string& path, const ElfQuery& query) const override;
  [[nodiscard]] Result<std::vector<std::string>> kernel_log() const override;
  [[nodiscard]] Result<std::vector<DxgAdapterReply>> dxg_adapters() const override;
  [[nodiscard]] Result<std::vector<DrmDeviceReply>> drm_devices(
      const std::vector<std::string>& render_nodes) const override;
  [[nodiscard]] Result<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                                  std::chrono::milliseconds deadline) const override;

 private:
  const Host& inner_;
  EnvironmentValues values_;
};

}  // namespace sage
