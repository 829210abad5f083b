#pragma once

#include "probes/host/capture.hpp"
#include "probes/host/path_walk.hpp"

namespace sage {

/// Passes every question on to another Host and notes the answer, failures included, so that a replay of the capture
/// gives the same answers. Nothing is filtered here: write_capture() does that.
class RecordingHost : public Host {
 public:
  /// `inner` must outlive this.
  explicit RecordingHost(const Host& inner);

  /// What was asked so far, with the answers.
  [[nodiscard]] const Capture& capture() const { return capture_; }

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
  /// The entry for what `path` leads to, noting the links on the way; nullptr when the way itself failed, which is
  /// then noted instead.
  [[nodiscard]] CapturedPath* entry_for(const std::string& path, Links links) const;
  [[nodiscard]] Result<std::string> walk(const std::string& path, Links links) const;
  [[nodiscard]] Result<PathLook> look(const std::string& path) const;

  const Host& inner_;
  mutable Capture capture_;
  mutable std::map<std::string, Result<PathLook>> looks_;  ///< what walks have seen, so that they ask once
};

}  // namespace sage
