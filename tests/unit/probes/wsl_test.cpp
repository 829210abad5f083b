#include "probes/wsl.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "probes/base/text.hpp"
#include "probes/dids_conf.hpp"
#include "probes/wsl_conf.hpp"
#include "probes/wsl_windows.hpp"
#include "tests/support/memory_host.hpp"

namespace sage {
namespace {

const std::string cmd = "/mnt/c/Windows/System32/cmd.exe";
const std::string powershell = "/mnt/c/Windows/System32/WindowsPowerShell/v1.0/powershell.exe";
const std::string dxcore = "/usr/lib/wsl/lib/libdxcore.so";

/// A WSL2 machine: adapters, and Windows programs by their first argument.
class WslHost : public MemoryHost {
 public:
  Result<std::vector<DxgAdapterReply>> adapters = std::vector<DxgAdapterReply>{};
  std::map<std::string, Result<ProgramOutput>> programs;
  mutable int adapter_calls = 0;
  mutable std::vector<std::string> run;

  Result<std::vector<DxgAdapterReply>> dxg_adapters() const override {
    ++adapter_calls;
    return adapters;
  }
  Result<ProgramOutput> run_program(const std::vector<std::string>& arguments,
                                    std::chrono::milliseconds) const override {
    run.push_back(arguments.front());
    const auto program = programs.find(arguments.front());
    return program == programs.end() ? system_error(ENOENT, arguments.front()) : program->second;
  }
};

Platform platform_of(PlatformKind kind) {
  Platform platform;
  platform.kind = kind;
  return platform;
}

Wsl probe(const Host& host, bool deep = false) {
  ProbeOptions options;
  options.deep = deep;
  return probe_wsl(host, options, platform_of(PlatformKind::wsl2), {});
}

/// ELF facts that answer `present` for the symbols of every question but those in `missing`.
class AnsweringHost : public WslHost {
 public:
  std::vector<std::string> missing;

  Result<ElfFacts> elf(const std::string&, const ElfQuery& query) const override {
    ElfFacts facts;
    for (const std::string& symbol : query.symbols) {
      facts.symbols[symbol] = std::find(missing.begin(), missing.end(), symbol) == missing.end();
    }
    return facts;
  }
};

ProgramOutput printed(std::string text) {
  ProgramOutput output;
  output.output = std::move(text);
  return output;
}

}  // namespace

TEST_CASE("off WSL nothing is looked at and every fact says why it is unknown") {
  WslHost host;
  host.file("/etc/wsl.conf", "[gpu]\nenabled=false\n");
  const Wsl wsl = probe_wsl(host, {}, platform_of(PlatformKind::bare_metal), {});
  int facts = 0;
  Wsl::fields([&](std::string_view name, auto member) {
    CAPTURE(name);
    CHECK_FALSE((wsl.*member).known());
    CHECK((wsl.*member).why_unknown().text == "not WSL");
    ++facts;
  });
  CHECK(facts == 16);
  CHECK(host.adapter_calls == 0);
  CHECK(host.read.empty());
  Platform unknown;
  unknown.kind = Fact<PlatformKind>::unknown(Error{EACCES, "closed"});
  CHECK(probe_wsl(host, {}, unknown, {}).adapters.why_unknown().text == "closed");
}

TEST_CASE("adapters are told without the software ones, each fact by itself") {
  WslHost host;
  DxgAdapterReply card;
  card.vendor_id = 0x1002;
  card.device_id = 0x7550;
  card.driver_version = "32.0.31041.1004";
  card.type_bits = 1u | 1u << 5;
  DxgAdapterReply software;
  software.vendor_id = 0x1002;
  software.type_bits = 1u << 2;
  DxgAdapterReply basic_render;
  basic_render.vendor_id = 0x1414;
  DxgAdapterReply silent;
  host.adapters = std::vector<DxgAdapterReply>{basic_render, card, software, silent};
  const Wsl wsl = probe(host);
  REQUIRE(wsl.adapters.known());
  REQUIRE(wsl.adapters->size() == 2);
  const DxgAdapter& adapter = wsl.adapters->front();
  CHECK(adapter.device_id.is(0x7550));
  CHECK(adapter.driver_version.is("32.0.31041.1004"));
  CHECK(adapter.hybrid_integrated.is(true));
  CHECK_FALSE(adapter.name.known());
  CHECK_FALSE(wsl.adapters->back().vendor_id.known());
  CHECK_FALSE(wsl.adapters->back().hybrid_integrated.known());
  CHECK(host.adapter_calls == 1);
}

TEST_CASE("adapters that hang or are closed are unknown, not absent") {
  WslHost host;
  host.adapters = Error{ETIMEDOUT, "/dev/dxg: no answer"};
  CHECK(probe(host).adapters.why_unknown().number == ETIMEDOUT);
}

TEST_CASE("libdxcore is where the loader finds it, else where it lies unfound") {
  AnsweringHost host;
  SUBCASE("nowhere") {
    const Wsl wsl = probe(host);
    CHECK(wsl.dxcore_path.is(""));
    CHECK(wsl.dxcore_findable.is(false));
    CHECK_FALSE(wsl.dxcore_missing_symbols.known());
    CHECK(wsl.library_folder.is(false));
  }
  SUBCASE("only in WSL's folder") {
    host.file(dxcore, "");
    const Wsl wsl = probe(host);
    CHECK(wsl.dxcore_path.is(dxcore));
    CHECK(wsl.dxcore_findable.is(false));
    CHECK(wsl.dxcore_missing_symbols.is({}));
    CHECK(wsl.library_folder.is(true));
  }
  SUBCASE("only in WSL's folder, and the cache can't be read") {
    host.file(dxcore, "");
    host.cache = Error{ENOENT, "/etc/ld.so.cache"};
    CHECK_FALSE(probe(host).dxcore_findable.known());
  }
  SUBCASE("in the loader cache") {
    host.file(dxcore, "");
    host.cache = std::vector<LoaderCacheEntry>{{"libdxcore.so", dxcore}};
    CHECK(probe(host).dxcore_findable.is(true));
  }
  SUBCASE("in a cache that is out of date") {
    host.cache = std::vector<LoaderCacheEntry>{{"libdxcore.so", dxcore}};
    CHECK(probe(host).dxcore_findable.is(false));
  }
  SUBCASE("by LD_LIBRARY_PATH, which comes first") {
    host.file("/other/libdxcore.so", "").file("/usr/lib/libdxcore.so", "");
    host.variables["LD_LIBRARY_PATH"] = ":/empty;/other";
    CHECK(probe(host).dxcore_path.is("/other/libdxcore.so"));
  }
  SUBCASE("mounted into a container") {
    host.file("/usr/lib/libdxcore.so", "");
    CHECK(probe(host).dxcore_findable.is(true));
  }
  SUBCASE("an old one lacks symbols") {
    host.file(dxcore, "");
    host.missing = {"D3DKMTCreateHwQueue", "D3DKMTEnumProcesses"};
    CHECK(probe(host).dxcore_missing_symbols.is({"D3DKMTCreateHwQueue"}));
  }
}

TEST_CASE("a libdxcore that is no ELF file leaves its symbols unknown") {
  WslHost host;
  host.file(dxcore, "text");
  CHECK(probe(host).dxcore_path.is(dxcore));
  CHECK_FALSE(probe(host).dxcore_missing_symbols.known());
}

TEST_CASE("wsl.conf is read as WSL reads it") {
  const WslConf conf(
      "enabled = 1\n# [gpu]\n[GPU]  # the card\r\n  Enabled=FALSE # no\nenabled=true\nappendLibPath = \"fal\"se\n"
      "[bad section]\nldconfig=false\n[automount]\nroot = \"/my drives/#1\" # x\nopen=\"quote\nescape=\\q\n"
      "tab=a\\tb  \n1key!=3\nnovalue\n=7\n[interop]\nenabled=maybe");
  CHECK(conf.value("gpu", "enabled") == "FALSE");
  CHECK_FALSE(conf.flag("gpu", "enabled", true));
  CHECK_FALSE(conf.flag("gpu", "APPENDLIBPATH", true));
  CHECK(conf.flag("", "enabled", false));
  CHECK(conf.value("gpu", "ldconfig") == "false");  // a broken section line changes nothing
  CHECK(conf.value("automount", "root") == "/my drives/#1");
  CHECK_FALSE(conf.value("automount", "open"));
  CHECK_FALSE(conf.value("automount", "escape"));
  CHECK(conf.value("automount", "tab") == "a\tb");
  CHECK_FALSE(conf.value("automount", "1key!"));
  CHECK(conf.flag("interop", "enabled", true));
  CHECK_FALSE(conf.flag("interop", "enabled", false));
  CHECK(conf.flag("nothing", "at all", true));
}

TEST_CASE("the switches of wsl.conf are on where nothing switches them off") {
  WslHost host;
  SUBCASE("no file") {
    const Wsl wsl = probe(host);
    CHECK(wsl.conf_gpu_enabled.is(true));
    CHECK(wsl.conf_append_lib_path.is(true));
    CHECK(wsl.conf_ldconfig.is(true));
    CHECK(wsl.conf_interop.is(true));
  }
  SUBCASE("all off") {
    host.file("/etc/wsl.conf",
              "[gpu]\nenabled=false\nappendLibPath=false\n[automount]\nldconfig=false\n[interop]\nenabled=false\n");
    const Wsl wsl = probe(host);
    CHECK(wsl.conf_gpu_enabled.is(false));
    CHECK(wsl.conf_append_lib_path.is(false));
    CHECK(wsl.conf_ldconfig.is(false));
    CHECK(wsl.conf_interop.is(false));
  }
  SUBCASE("unreadable") {
    host.unreadable("/etc/wsl.conf", EACCES);
    CHECK(probe(host).conf_gpu_enabled.why_unknown().number == EACCES);
  }
}

TEST_CASE("a dids.conf allows what its well-formed lines say, 256 at most") {
  const auto devices = parse_dids_conf(
      "# ids\n0x73BF,10,3,0\n 0x7480 , 11, 0 , 2 # "
      "7600\n0x73bf,10,3\n0x10000,11,0,0\n,1,2,3\n73ff,10,3,2\n0x1,64,0,0\n",
      "F");
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].device_id == 0x73bf);
  CHECK(devices[0].target == "gfx1030");
  CHECK(devices[0].file == "F");
  CHECK(devices[1].device_id == 0x7480);
  CHECK(devices[1].target == "gfx1102");
  CHECK(devices[2].device_id == 0x73ff);
  std::string many;
  for (int i = 0; i < 300; ++i) many += "0x1,11,0,0\n";
  CHECK(parse_dids_conf(many, "F").size() == 256);
}

TEST_CASE("every dids.conf is read once: of ROCm trees and of each librocdxg") {
  WslHost host;
  host.folder("/opt/rocm-7.2.1/lib").link("/opt/rocm", "rocm-7.2.1");
  host.file("/opt/rocm-7.2.1/share/rocdxg/dids.conf", "0x73bf,10,3,0\n");
  host.file("/opt/rocm-7.2.1/lib/librocdxg.so", "");
  host.file("/usr/lib/librocdxg.so", "another").file("/usr/share/rocdxg/dids.conf", "0x7480,11,0,2\n");
  const Wsl wsl = probe(host);
  REQUIRE(wsl.allowed_devices.known());
  REQUIRE(wsl.allowed_devices->size() == 2);
  CHECK(wsl.allowed_devices->at(0).file == "/opt/rocm-7.2.1/share/rocdxg/dids.conf");
  CHECK(wsl.allowed_devices->at(1).file == "/usr/share/rocdxg/dids.conf");
  host.unreadable("/usr/share/rocdxg/dids.conf", EACCES);
  CHECK_FALSE(probe(host).allowed_devices.known());
}

TEST_CASE("packages and ld.wsl.conf are told by their files") {
  WslHost host;
  CHECK(probe(host).rocdxg_package.is(false));
  CHECK(probe(host).ld_conf.is(false));
  host.file("/var/lib/dpkg/info/rocdxg-roct.list", "/.\n");
  host.file("/var/lib/dpkg/info/hsa-runtime-rocr4wsl-amdgpu:amd64.list", "/.\n");
  host.file("/etc/ld.so.conf.d/ld.wsl.conf", "/usr/lib/wsl/lib\n");
  CHECK(probe(host).rocdxg_package.is(true));
  CHECK(probe(host).roc4wsl_package.is(true));
  CHECK(probe(host).ld_conf.is(true));
  host.failing("/var/lib/dpkg/info/rocdxg-roct.list", EACCES);
  CHECK_FALSE(probe(host).rocdxg_package.known());
}

TEST_CASE("without --deep no Windows program runs and nothing under /mnt is touched") {
  WslHost host;
  const Wsl wsl = probe(host);
  CHECK(host.run.empty());
  CHECK(wsl.wslconfig_gpu_support.why_unknown().text == "needs --deep");
  CHECK(wsl.windows_adapters.why_unknown().text == "needs --deep");
  for (const std::string& path : host.read) CHECK_FALSE(path.starts_with("/mnt/"));
}

TEST_CASE("with --deep Windows tells the user's settings and the adapters") {
  WslHost host;
  host.programs.emplace(cmd, printed("CMD.EXE was started with a UNC path.\r\nC:\\Users\\Ann Lee\r\n"));
  host.programs.emplace(powershell, printed("\xef\xbb\xbf{\"Name\":\"AMD Radeon RX 9070 XT\",\"DriverVersion\":"
                                            "\"32.0.31041.1004\",\"PNPDeviceID\":\"PCI\\\\VEN_1002&DEV_7550\"}\r\n"));
  host.folder("/mnt/c/Users/Ann Lee");
  SUBCASE("no .wslconfig") {
    const Wsl wsl = probe(host, true);
    CHECK(wsl.wslconfig_gpu_support.is(true));
    CHECK(wsl.wslconfig_safe_mode.is(false));
    CHECK(wsl.windows_adapters.is({"AMD Radeon RX 9070 XT | 32.0.31041.1004 | PCI\\VEN_1002&DEV_7550"}));
  }
  SUBCASE("GPU support switched off") {
    host.file("/mnt/c/Users/Ann Lee/.wslconfig", "[wsl2]\r\ngpuSupport=false\r\nsafeMode=true\r\n");
    const Wsl wsl = probe(host, true);
    CHECK(wsl.wslconfig_gpu_support.is(false));
    CHECK(wsl.wslconfig_safe_mode.is(true));
  }
  SUBCASE("drives mounted elsewhere") {
    host.file("/etc/wsl.conf", "[automount]\nroot = /win\n");
    (void)probe(host, true);
    CHECK(host.run.at(0) == "/win/c/Windows/System32/cmd.exe");
  }
  SUBCASE("a user folder that is not there is no missing .wslconfig") {
    host.entries.erase("/mnt/c/Users/Ann Lee");
    CHECK_FALSE(probe(host, true).wslconfig_gpu_support.known());
  }
  SUBCASE("programs that hang, die or fail") {
    ProgramOutput hung;
    hung.timed_out = true;
    ProgramOutput failed;
    failed.exit_status = 1;
    host.programs.insert_or_assign(cmd, hung);
    host.programs.insert_or_assign(powershell, failed);
    CHECK(probe(host, true).wslconfig_gpu_support.why_unknown().number == ETIMEDOUT);
    CHECK(contains(probe(host, true).windows_adapters.why_unknown().text, "exit status 1"));
    host.programs.clear();
    CHECK(probe(host, true).windows_adapters.why_unknown().number == ENOENT);
  }
}

TEST_CASE("Windows paths and answers are checked before they are used") {
  CHECK(linux_path("D:\\a b\\c", "/mnt/").value() == "/mnt/d/a b/c");
  for (const char* wrong :
       {"", "C:", "C:\\", "\\\\server\\share", "C:relative", "1:\\x", "C:\\a\\..\\b", "%UserProfile%"}) {
    CAPTURE(wrong);
    CHECK_FALSE(linux_path(wrong, "/mnt/").ok());
  }
  CHECK(parse_video_controllers("[]").value().empty());
  CHECK(parse_video_controllers("[{\"Name\":7},{\"Name\":\"x\"}]").value() ==
        std::vector<std::string>{"? | ? | ?", "x | ? | ?"});
  CHECK_FALSE(parse_video_controllers("").ok());
  CHECK_FALSE(parse_video_controllers("[1]").ok());
  CHECK_FALSE(parse_video_controllers("Get-CimInstance : not found").ok());
}

}  // namespace sage
