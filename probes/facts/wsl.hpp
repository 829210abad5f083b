#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/base/fact.hpp"

namespace sage {

/// One adapter as /dev/dxg describes it (facts/wsl.md W8a). Software adapters are left out.
struct DxgAdapter {
  Fact<std::uint32_t> vendor_id;  ///< 0x1002 is AMD
  Fact<std::uint32_t> device_id;
  Fact<std::uint32_t> revision;
  Fact<std::string> name;
  Fact<std::uint64_t> dedicated_bytes;  ///< dedicated video memory
  Fact<std::uint64_t> shared_bytes;     ///< shared system memory
  Fact<std::string> driver_version;     ///< Windows user-mode driver, "32.0.31041.1004"
  Fact<std::uint32_t> wddm_version;     ///< 3200 is WDDM 3.2
  Fact<bool> hybrid_integrated;         ///< the integrated half of a hybrid pair

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("vendor_id", &DxgAdapter::vendor_id);
    visit("device_id", &DxgAdapter::device_id);
    visit("revision", &DxgAdapter::revision);
    visit("name", &DxgAdapter::name);
    visit("dedicated_bytes", &DxgAdapter::dedicated_bytes);
    visit("shared_bytes", &DxgAdapter::shared_bytes);
    visit("driver_version", &DxgAdapter::driver_version);
    visit("wddm_version", &DxgAdapter::wddm_version);
    visit("hybrid_integrated", &DxgAdapter::hybrid_integrated);
  }
};

/// One line of a dids.conf: a device id that the user allows librocdxg to use (facts/wsl.md 2.5).
struct AllowedDevice {
  std::string file;
  std::uint32_t device_id = 0;
  std::string target;  ///< "gfx1030"

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("file", &AllowedDevice::file);
    visit("device_id", &AllowedDevice::device_id);
    visit("target", &AllowedDevice::target);
  }
};

/// What only exists under WSL2 (and GPU-PV guests). Elsewhere every field is unknown with the reason "not WSL".
struct Wsl {
  Fact<std::vector<DxgAdapter>> adapters;
  Fact<bool> library_folder;                 ///< /usr/lib/wsl/lib exists
  Fact<std::string> dxcore_path;             ///< where libdxcore.so was found; empty when nowhere
  Fact<bool> dxcore_findable;                ///< a bare-name dlopen finds it: loader cache, LD_LIBRARY_PATH or default folder
  Fact<std::vector<std::string>> dxcore_missing_symbols;  ///< of the mandatory D3DKMT* ones
  Fact<bool> ld_conf;                        ///< /etc/ld.so.conf.d/ld.wsl.conf exists
  Fact<bool> conf_gpu_enabled;               ///< /etc/wsl.conf [gpu] enabled (default true)
  Fact<bool> conf_append_lib_path;           ///< [gpu] appendLibPath (default true)
  Fact<bool> conf_ldconfig;                  ///< [automount] ldconfig (default true)
  Fact<bool> conf_interop;                   ///< [interop] enabled (default true)
  Fact<std::vector<AllowedDevice>> allowed_devices;  ///< from every dids.conf found
  Fact<bool> roc4wsl_package;                ///< dpkg has hsa-runtime-rocr4wsl-amdgpu: the runtime talks to Windows itself
  Fact<bool> rocdxg_package;                 ///< dpkg has rocdxg-roct
  Fact<bool> wslconfig_gpu_support;          ///< %UserProfile%\.wslconfig [wsl2] gpuSupport (default true); only with --deep
  Fact<bool> wslconfig_safe_mode;            ///< [wsl2] safeMode (default false); only with --deep
  Fact<std::vector<std::string>> windows_adapters;  ///< Win32_VideoController "name | driver | PNP id"; only with --deep

  template <class Visitor>
  static void fields(Visitor&& visit) {
    visit("adapters", &Wsl::adapters);
    visit("library_folder", &Wsl::library_folder);
    visit("dxcore_path", &Wsl::dxcore_path);
    visit("dxcore_findable", &Wsl::dxcore_findable);
    visit("dxcore_missing_symbols", &Wsl::dxcore_missing_symbols);
    visit("ld_conf", &Wsl::ld_conf);
    visit("conf_gpu_enabled", &Wsl::conf_gpu_enabled);
    visit("conf_append_lib_path", &Wsl::conf_append_lib_path);
    visit("conf_ldconfig", &Wsl::conf_ldconfig);
    visit("conf_interop", &Wsl::conf_interop);
    visit("allowed_devices", &Wsl::allowed_devices);
    visit("roc4wsl_package", &Wsl::roc4wsl_package);
    visit("rocdxg_package", &Wsl::rocdxg_package);
    visit("wslconfig_gpu_support", &Wsl::wslconfig_gpu_support);
    visit("wslconfig_safe_mode", &Wsl::wslconfig_safe_mode);
    visit("windows_adapters", &Wsl::windows_adapters);
  }
};

}  // namespace sage
