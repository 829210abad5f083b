// Usage: make_corpus FOLDER. Writes the seeds: small valid files of every kind, and some that are wrong in an
// interesting way.
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "elf_builder.hpp"

namespace {

using namespace sage::test;

void write(const std::filesystem::path& path, const Buffer& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file{path, std::ios::binary};
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Buffer text(std::string_view value) {
  Buffer bytes;
  put_text(bytes, value);
  return bytes;
}

Buffer zlib_stream(const Buffer& in) {
  uLongf size = compressBound(static_cast<uLong>(in.size()));
  Buffer out(size);
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(in.data()),
           static_cast<uLong>(in.size()));
  out.resize(size);
  return out;
}

Buffer zstd_stream(const Buffer& in) {
  Buffer out(ZSTD_compressBound(in.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), in.data(), in.size(), 3));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path root = argv[1];

  ObjectSpec two;
  two.kernels.push_back({"second", 100, 4096, 16, 48, 3, 32});
  ObjectSpec cdna;
  cdna.flags = 0xe3f;
  cdna.target = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
  cdna.kernels[0].wave = 64;
  ObjectSpec generic;
  generic.flags = 0x1000059;
  generic.abi_version = 4;
  write(root / "code_object/gfx1201", build_object().file);
  write(root / "code_object/two_kernels", build_object(two).file);
  write(root / "code_object/gfx90a", build_object(cdna).file);
  write(root / "code_object/generic", build_object(generic).file);
  BuiltObject extended = build_object();
  put_at(extended.file, 60, std::uint16_t{0});
  put_at(extended.file, extended.sections + 32, std::uint64_t{7});
  write(root / "code_object/extended_sections", extended.file);

  write(root / "metadata/one", metadata_note({}));
  write(root / "metadata/two", metadata_note(two));
  write(root / "metadata/every_form", text(std::string_view{"\x9d\xc0\xc3\x05\xff\xcc\xff\xd0\x80\xca\0\0\0\0\xc4\1x"
                                                            "\xd4\1x\xd9\1y\xdc\0\1\x01\xde\0\1\xa1k\xa1v\xc7\1\2z",
                                                            42}));

  const Buffer bundle = build_bundle({{"host-x86_64-unknown-linux--", {}},
                                      {"hipv4-amdgcn-amd-amdhsa--gfx1201", text("code")},
                                      {"hip-amdgcn-amd-amdhsa-gfx900", text("more")}},
                                     64);
  write(root / "bundle/plain", bundle);
  Buffer section = bundle;
  pad_to(section, 256);
  section.insert(section.end(), bundle.begin(), bundle.end());
  write(root / "bundle/section", section);

  std::size_t headers[] = {0, 20, 24, 32};
  for (const unsigned version : {1U, 2U, 3U}) {
    const Buffer z = zlib_stream(bundle);
    const Buffer s = zstd_stream(bundle);
    write(root / "compressed" / ("zlib" + std::to_string(version)),
          build_compressed(version, 0, headers[version] + z.size(), bundle.size(), z));
    write(root / "compressed" / ("zstd" + std::to_string(version)),
          build_compressed(version, 1, headers[version] + s.size(), bundle.size(), s));
  }

  ObjectSpec cuda;
  cuda.machine = 190;
  cuda.abi_version = 8;
  cuda.flags = 0x6005a04;
  BuiltObject cubin = build_object(cuda);
  put_at(cubin.file, cubin.sections + 2 * 64 + 4, std::uint32_t{2});
  write(root / "cubin/sm_90", cubin.file);

  write(root / "names/target", text("gfx90a:sramecc+:xnack-"));
  write(root / "names/generic", text("gfx9-4-generic:xnack+"));
  write(root / "names/bundle", text("hipv4-amdgcn-amd-amdhsa--gfx12-generic"));
  return 0;
}
