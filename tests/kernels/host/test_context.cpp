// How contexts are made: which driver library, which code objects.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <iterator>

#include "programs.hpp"
#include "runtime_fixture.hpp"

using namespace sage::test;
namespace device = sage::device;

namespace {

using sage::runtime::mapped_libraries;

bool nothing_mapped() {
  return mapped_libraries("libamdhip64").empty() && mapped_libraries("libcuda").empty();
}

std::string text(const Buffer& bytes) {
  return std::string{sage::code_object::as_text(bytes)};
}

sage_status make(const std::vector<Buffer>& files, sage_error& error, const sage_context_options* options = nullptr) {
  ContextHolder holder;
  const sage_status status = make_context(files, holder, &error, options);
  CHECK((holder.context != nullptr) == (status == SAGE_OK));
  CHECK(error.status == status);
  return status;
}

Buffer good() {
  return build_object(gfx1201_spec()).file;
}

// A cubin or PTX with these kernels.
Buffer cubin(ObjectSpec spec) {
  spec.machine = 190;
  spec.abi_version = 8;
  BuiltObject built = build_object(spec);
  put_at(built.file, built.sections + 2 * 64 + 4, std::uint32_t{2});
  return built.file;
}

ObjectSpec cubin_spec(unsigned sm) {
  return family_spec(sm == 90 ? device::Family::sm90 : device::Family::nvidia, 0x6000004U | sm << 8U, "");
}

Buffer cubin(unsigned sm) {
  return cubin(cubin_spec(sm));
}

Buffer ptx(unsigned sm) {
  std::string out = ".version 7.0\n.target sm_" + std::to_string(sm) + "\n.address_size 64\n";
  for (const KernelSpec& kernel : family_spec(device::Family::nvidia, 0, "").kernels)
    out += ".visible .entry " + kernel.name + "(\n.param .b64 a\n)\n{ ret; }\n";
  Buffer bytes;
  put_text(bytes, out);
  return bytes;
}

}  // namespace

TEST_CASE("a mapped library is used, whatever path is given, and no second one is loaded") {
  REQUIRE(nothing_mapped());
  sage_error error{};
  const FakeDriver mapped{FAKE_HIP6};
  const sage_context_options options = options_with(FAKE_HIP6_COPY);
  ContextHolder holder;
  REQUIRE(make_context({good()}, holder, &error, &options) == SAGE_OK);
  sage_context_info info{};
  REQUIRE(sage_context_describe(holder.context, &info, &error) == SAGE_OK);
  CHECK(std::string{info.runtime_path} == FAKE_HIP6);
  CHECK(std::string{info.target} == "gfx1201");
  CHECK(info.api == SAGE_API_HIP);
  CHECK(info.device == 0);
  CHECK(info.kernel_count == 16);
  CHECK(mapped_libraries("libamdhip64").size() == 1);
}

TEST_CASE("a named library is loaded when none is mapped, and released with the context") {
  REQUIRE(nothing_mapped());
  sage_error error{};
  {
    // A short look at the library to set its answers: it forgets them when it is unloaded, so it is kept by a second
    // handle that was opened after the context's.
    const sage_context_options options = options_with(FAKE_HIP6);
    CHECK(make({good()}, error, &options) == SAGE_E_UNSUPPORTED_TARGET);  // a fresh stand-in reports an empty target
  }
  CHECK(nothing_mapped());
}

TEST_CASE("no library at all") {
  REQUIRE(nothing_mapped());
  sage_error error{};
  CHECK(make({good()}, error) == SAGE_E_NO_RUNTIME);
  for (const std::uint32_t api : {SAGE_API_HIP, SAGE_API_CUDA}) {
    const sage_context_options options = options_with(nullptr, api);
    CHECK(make({good()}, error, &options) == SAGE_E_NO_RUNTIME);
  }
  const sage_context_options missing = options_with("/nonexistent/libamdhip64.so");
  CHECK(make({good()}, error, &missing) == SAGE_E_NO_RUNTIME);
  CHECK(std::string{error.text}.find("/nonexistent/libamdhip64.so") != std::string::npos);
  const sage_context_options strange = options_with("/nonexistent/libother.so");
  CHECK(make({good()}, error, &strange) == SAGE_E_NO_RUNTIME);
  const sage_context_options unknown = options_with(nullptr, 3);
  CHECK(make({good()}, error, &unknown) == SAGE_E_OPTION);
  CHECK(nothing_mapped());
}

TEST_CASE("two copies of a library: only a path that is one of them decides") {
  REQUIRE(nothing_mapped());
  sage_error error{};
  const FakeDriver first{FAKE_HIP6};
  const FakeDriver second{FAKE_HIP6_COPY};
  REQUIRE(mapped_libraries("libamdhip64").size() == 2);
  CHECK(make({good()}, error) == SAGE_E_RUNTIME_AMBIGUOUS);
  const sage_context_options third = options_with(FAKE_HIP5);
  CHECK(make({good()}, error, &third) == SAGE_E_RUNTIME_AMBIGUOUS);
  const sage_context_options options = options_with(FAKE_HIP6_COPY);
  CHECK(make({good()}, error, &options) == SAGE_OK);
  CHECK(first.state->modules_loaded == 0);
  CHECK(second.state->modules_loaded == 1);
  CHECK(second.state->modules_live == 0);

  // Another name of the same file is the same file.
  const TemporaryFolder folder;
  const auto link = folder.path() / "libamdhip64.so";
  std::filesystem::create_symlink(FAKE_HIP6, link);
  const std::string name = link.string();
  const sage_context_options by_link = options_with(name.c_str());
  CHECK(make({good()}, error, &by_link) == SAGE_OK);
  CHECK(first.state->modules_loaded == 1);
}

TEST_CASE("HIP and CUDA in one process: the options decide") {
  REQUIRE(nothing_mapped());
  sage_error error{};
  const FakeDriver hip{FAKE_HIP6};
  const FakeDriver cuda{FAKE_CUDA};
  CHECK(make({good()}, error) == SAGE_E_RUNTIME_AMBIGUOUS);
  const sage_context_options use_hip = options_with(nullptr, SAGE_API_HIP);
  CHECK(make({good()}, error, &use_hip) == SAGE_OK);
  const sage_context_options use_cuda = options_with(nullptr, SAGE_API_CUDA);
  CHECK(make({cubin(90)}, error, &use_cuda) == SAGE_OK);
  CHECK(make({good()}, error, &use_cuda) == SAGE_E_OBJECT_TARGET);
}

TEST_CASE("both layouts of the device properties") {
  sage_error error{};
  {
    const FakeDriver old{FAKE_HIP5};
    CHECK(make({good()}, error) == SAGE_OK);
  }
  CHECK(nothing_mapped());
  const FakeDriver newer{FAKE_HIP6};
  CHECK(make({good()}, error) == SAGE_OK);
}

TEST_CASE("a library without a function, a machine without a GPU, a GPU without kernels") {
  sage_error error{};
  {
    const FakeDriver broken{FAKE_HIP_INCOMPLETE};
    CHECK(make({good()}, error) == SAGE_E_RUNTIME_SYMBOL);
    CHECK(std::string{error.text}.find("hipModuleLaunchKernel") != std::string::npos);
  }
  const FakeDriver driver{FAKE_HIP6};
  driver.state->get_device_result = 100;
  CHECK(make({good()}, error) == SAGE_E_NO_DEVICE);
  CHECK(error.driver_code == 100);
  driver.state->get_device_result = 101;
  CHECK(make({good()}, error) == SAGE_E_NO_DEVICE);
  driver.state->get_device_result = 0;
  driver.state->properties_result = 101;
  CHECK(make({good()}, error) == SAGE_E_DRIVER);
  CHECK(error.driver_code == 101);
  driver.state->properties_result = 0;
  for (const char* const target : {"gfx1030", "gfx906:sramecc+:xnack-", "gfx950", "", "unknown"}) {
    std::strcpy(driver.state->target, target);
    CHECK(make({good()}, error) == SAGE_E_UNSUPPORTED_TARGET);
    CHECK(std::string{error.text}.find(target) != std::string::npos);
  }
  CHECK(driver.state->modules_loaded == 0);
}

TEST_CASE("code objects of other targets") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  const Buffer gfx1100 = build_object(gfx1100_spec()).file;
  CHECK(make({gfx1100}, error) == SAGE_E_OBJECT_TARGET);
  CHECK(std::string{error.text}.find("gfx1201") != std::string::npos);
  CHECK(std::string{error.text}.find("gfx1100") != std::string::npos);
  CHECK(make({cubin(90)}, error) == SAGE_E_OBJECT_TARGET);
  CHECK(make({ptx(80)}, error) == SAGE_E_OBJECT_TARGET);
  CHECK(make({gfx1100, good()}, error) == SAGE_OK);
  std::strcpy(driver.state->target, "gfx1200");
  CHECK(make({good()}, error) == SAGE_E_OBJECT_TARGET);
  ObjectSpec generic = gfx1201_spec();
  generic.flags = 0x1000059;
  generic.abi_version = 4;
  generic.target = "amdgcn-amd-amdhsa--gfx12-generic";
  CHECK(make({build_object(generic).file}, error) == SAGE_OK);

  // Features: an object for xnack+ does not load where it is off.
  ObjectSpec cdna = family_spec(device::Family::gfx9, 0x53f, "gfx90a");
  std::strcpy(driver.state->target, "gfx90a:sramecc+:xnack-");
  CHECK(make({build_object(cdna).file}, error) == SAGE_OK);
  cdna.flags = 0x73f;
  cdna.target = "amdgcn-amd-amdhsa--gfx90a:xnack+";
  CHECK(make({build_object(cdna).file}, error) == SAGE_E_OBJECT_TARGET);
}

TEST_CASE("a code object cut off after any byte is refused before it reaches the driver") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  ObjectSpec spec = gfx1201_spec();
  spec.kernels.resize(4);
  const Buffer whole = build_object(spec).file;
  for (std::size_t length = 1; length < whole.size(); ++length) {
    const Buffer part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    ContextHolder holder;
    if (make_context({part}, holder, &error) != SAGE_E_OBJECT_MALFORMED)
      FAIL_CHECK("length ", length, ": ", error.text);
  }
  CHECK(driver.state->modules_loaded == 0);
  CHECK(make({whole}, error) == SAGE_OK);
  // One damaged object among good ones is an error, not a silent loss.
  Buffer damaged = whole;
  damaged.resize(damaged.size() - 1);
  CHECK(make({whole, damaged}, error) == SAGE_E_OBJECT_MALFORMED);
  CHECK(std::string{error.text}.find("object 1") != std::string::npos);
  CHECK(make({Buffer{}}, error) == SAGE_E_OBJECT_MALFORMED);
  CHECK(make({Buffer(100, std::byte{'x'})}, error) == SAGE_E_OBJECT_MALFORMED);
}

TEST_CASE("objects that lack kernels or come from other sources") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  const auto with = [&](auto&& change) {
    ObjectSpec spec = gfx1201_spec();
    change(spec);
    return make({build_object(spec).file}, error);
  };
  CHECK(with([](ObjectSpec& s) { s.kernels[2].name = "sage_other"; }) == SAGE_E_OBJECT_KERNELS);
  CHECK(std::string{error.text}.find("sage_quantise") != std::string::npos);
  CHECK(with([](ObjectSpec& s) { s.kernels.resize(3); }) == SAGE_E_OBJECT_KERNELS);
  CHECK(with([](ObjectSpec& s) { s.kernels[1].arguments += 8; }) == SAGE_E_OBJECT_ABI);
  CHECK(with([](ObjectSpec& s) { s.kernels[4].max_threads = 64; }) == SAGE_E_OBJECT_ABI);
  // The driver looks kernels up in the dynamic symbols; one that is missing there counts as absent.
  BuiltObject hidden = build_object(gfx1201_spec());
  put_at(hidden.file, hidden.dynsym + 2 * 24 + 6, std::uint16_t{0});
  CHECK(make({hidden.file}, error) == SAGE_E_OBJECT_KERNELS);
  // Note and descriptor that disagree.
  BuiltObject edited = build_object(gfx1201_spec());
  put_at(edited.file, edited.rodata, std::uint32_t{65536});
  CHECK(make({edited.file}, error) == SAGE_E_OBJECT_MALFORMED);
  CHECK(driver.state->modules_live == 0);
  CHECK(driver.state->launched_total == 0);
}

TEST_CASE("kernels may be spread over several objects, and exact targets win") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  ObjectSpec prologue = gfx1201_spec();
  prologue.kernels.resize(3);
  ObjectSpec attention = gfx1201_spec();
  attention.kernels.erase(attention.kernels.begin(), attention.kernels.begin() + 3);
  CHECK(make({build_object(prologue).file}, error) == SAGE_E_OBJECT_KERNELS);
  ContextHolder holder;
  REQUIRE(make_context({build_object(attention).file, build_object(prologue).file}, holder, &error) == SAGE_OK);
  sage_context_info info{};
  REQUIRE(sage_context_describe(holder.context, &info, &error) == SAGE_OK);
  CHECK(info.kernel_count == 16);
  CHECK(driver.state->modules_live == 2);
}

TEST_CASE("a module that the driver refuses") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  driver.state->load_result = 209;
  CHECK(make({good()}, error) == SAGE_E_DRIVER);
  CHECK(error.driver_code == 209);
  CHECK(std::string{error.text}.find("hipModuleLoadData") != std::string::npos);
}

TEST_CASE("a kernel that the driver does not find, although the object lists it") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  driver.state->function_result = 500;
  CHECK(make({good()}, error) == SAGE_E_DRIVER);
  CHECK(error.driver_code == 500);
  CHECK(std::string{error.text}.find("sage_statistics") != std::string::npos);
  CHECK(driver.state->modules_live == 0);
}

TEST_CASE("folders") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  const auto from_folder = [&](const char* name) {
    ContextHolder holder;
    return sage_context_from_folder(name, nullptr, &holder.context, &error);
  };
  CHECK(from_folder(nullptr) == SAGE_E_FOLDER);
  CHECK(from_folder("/nonexistent/folder") == SAGE_E_FOLDER);
  CHECK(from_folder(path.c_str()) == SAGE_E_NO_OBJECTS);
  write_file(folder.path() / "readme.txt", "not a code object");
  CHECK(from_folder(path.c_str()) == SAGE_E_NO_OBJECTS);
  write_file(folder.path() / "other.hsaco", text(build_object(gfx1100_spec()).file));
  CHECK(from_folder(path.c_str()) == SAGE_E_OBJECT_TARGET);
  write_file(folder.path() / "kernels.hsaco", text(good()));
  CHECK(from_folder(path.c_str()) == SAGE_OK);
  write_file(folder.path() / "damaged.hsaco", text(good()).substr(0, 5000));
  CHECK(from_folder(path.c_str()) == SAGE_E_OBJECT_MALFORMED);
  CHECK(std::string{error.text}.find("damaged.hsaco") != std::string::npos);
  write_file(folder.path() / "damaged.hsaco", "");
  CHECK(from_folder(path.c_str()) == SAGE_E_OBJECT_MALFORMED);
  std::filesystem::remove(folder.path() / "damaged.hsaco");
  std::filesystem::create_directory(folder.path() / "folder.hsaco");
  CHECK(from_folder(path.c_str()) == SAGE_E_FOLDER);
}

TEST_CASE("offload bundles") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  const Buffer bundle = build_bundle({{"host-x86_64-unknown-linux--", {}},
                                      {"hipv4-amdgcn-amd-amdhsa--gfx1100", build_object(gfx1100_spec()).file},
                                      {"hipv4-amdgcn-amd-amdhsa--gfx1201", good()}});
  CHECK(make({bundle}, error) == SAGE_OK);
  CHECK(driver.state->modules_loaded == 1);
  Buffer cut = bundle;
  cut.resize(cut.size() - 1);
  CHECK(make({cut}, error) == SAGE_E_OBJECT_MALFORMED);
  CHECK(make({build_compressed(2, 1, 0, 0, {})}, error) == SAGE_E_OBJECT_MALFORMED);
  CHECK(std::string{error.text}.find("compressed") != std::string::npos);
}

TEST_CASE("arguments of the functions that make contexts") {
  sage_error error{};
  const FakeDriver driver{FAKE_HIP6};
  const Buffer file = good();
  const sage_object object{file.data(), file.size()};
  CHECK(sage_context_from_memory(&object, 1, nullptr, nullptr, &error) == SAGE_E_NULL_RESULT);
  CHECK(sage_context_from_folder("/", nullptr, nullptr, &error) == SAGE_E_NULL_RESULT);
  ContextHolder holder;
  CHECK(sage_context_from_memory(nullptr, 1, nullptr, &holder.context, &error) == SAGE_E_NO_OBJECTS);
  CHECK(sage_context_from_memory(&object, 0, nullptr, &holder.context, &error) == SAGE_E_NO_OBJECTS);
  const sage_object null_data{nullptr, 5};
  CHECK(sage_context_from_memory(&null_data, 1, nullptr, &holder.context, &error) == SAGE_E_OBJECT_MALFORMED);
  sage_context_options options = options_with(nullptr);
  options.struct_size = 4;
  CHECK(sage_context_from_memory(&object, 1, &options, &holder.context, &error) == SAGE_E_STRUCT_SIZE);
  options = options_with(nullptr);
  options.version = 0;
  CHECK(sage_context_from_memory(&object, 1, &options, &holder.context, &error) == SAGE_E_STRUCT_VERSION);
  options = options_with(nullptr);
  options.reserved = 1;
  CHECK(sage_context_from_memory(&object, 1, &options, &holder.context, &error) == SAGE_E_OPTION);
  CHECK(sage_context_from_memory(&object, 1, nullptr, &holder.context, nullptr) == SAGE_OK);
}

TEST_CASE("NVIDIA: cubins and PTX by architecture, shared memory above 48 KiB is asked for") {
  REQUIRE(nothing_mapped());
  sage_error error{};
  const FakeDriver driver{FAKE_CUDA};
  ContextHolder holder;
  REQUIRE_MESSAGE(make_context({cubin(90)}, holder, &error) == SAGE_OK, error.text);
  sage_context_info info{};
  REQUIRE(sage_context_describe(holder.context, &info, &error) == SAGE_OK);
  CHECK(std::string{info.target} == "sm_90");
  CHECK(info.api == SAGE_API_CUDA);
  CHECK(driver.state->attribute_calls == 16);
  CHECK(driver.state->attribute_last_value > 0);

  const sage_attention_problem problem = sample_problem();
  std::uint64_t bytes = 0;
  REQUIRE(sage_attention_workspace(holder.context, &problem, &bytes, &error) == SAGE_OK);
  const sage_attention_buffers buffers = sample_buffers(bytes);
  REQUIRE(sage_attention_launch(holder.context, &problem, &buffers, nullptr, &error) == SAGE_OK);
  REQUIRE(driver.state->launches == 3);
  const device::Tile* const tile =
      device::find_tile(device::Family::sm90, 64, device::PvType::f16, device::Length::short_q);
  CHECK(driver.state->log[1].shared_bytes == 0);
  CHECK(driver.state->log[2].shared_bytes == static_cast<unsigned>(device::tile_lds_bytes(*tile)));
  CHECK(driver.state->log[2].block[0] == static_cast<unsigned>(tile->threads()));
  // The first launch waits for the stream, the others for each other.
  CHECK(driver.state->log[0].early == 0);
  CHECK(driver.state->log[1].early == 1);
  CHECK(driver.state->log[2].early == 1);

  CHECK(make({cubin(80)}, error) == SAGE_E_OBJECT_TARGET);
  REQUIRE(make({ptx(80)}, error) == SAGE_OK);
  CHECK(make({ptx(100)}, error) == SAGE_E_OBJECT_TARGET);
  driver.state->major = 8;
  driver.state->minor = 6;
  CHECK(make({cubin(80)}, error) == SAGE_OK);
  CHECK(make({cubin(90)}, error) == SAGE_E_OBJECT_TARGET);
  driver.state->major = 7;
  CHECK(make({cubin(80)}, error) == SAGE_E_UNSUPPORTED_TARGET);
  driver.state->get_device_result = 201;
  CHECK(make({cubin(80)}, error) == SAGE_E_NO_DEVICE);
  driver.state->init_result = 100;
  CHECK(make({cubin(80)}, error) == SAGE_E_NO_DEVICE);
}

TEST_CASE("sm_90 reads V where it lies, if the copy engine can, else a copy in the workspace") {
  sage_error error{};
  const FakeDriver driver{FAKE_CUDA};
  ContextHolder holder;
  REQUIRE_MESSAGE(make_context({cubin(90)}, holder, &error) == SAGE_OK, error.text);
  fake_state& state = *driver.state;
  const auto launch = [&](const sage_attention_problem& problem, const sage_attention_buffers* given = nullptr) {
    std::uint64_t bytes = 0;
    REQUIRE(sage_attention_workspace(holder.context, &problem, &bytes, &error) == SAGE_OK);
    const sage_attention_buffers buffers = given != nullptr ? *given : sample_buffers(bytes);
    state.launches = 0;
    return sage_attention_launch(holder.context, &problem, &buffers, nullptr, &error);
  };
  const auto args = [&] {
    SageArgs a;
    std::memcpy(&a, state.log[state.launches - 1].arguments, sizeof a);
    return a;
  };

  const sage_attention_problem plain = sample_problem();  // [2][4][77][64]
  REQUIRE(launch(plain) == SAGE_OK);
  CHECK(state.map.base == args().v);
  CHECK(state.map.rank == 4);
  CHECK(state.map.data_type == 1);
  CHECK(state.map.aligned == 1);
  const auto is = [](const auto& values, std::initializer_list<unsigned long long> expected) {
    return std::equal(std::begin(values), std::end(values), expected.begin(), expected.end());
  };
  CHECK(is(state.map.extents, {64, 77, 4, 2}));
  CHECK(is(state.map.strides, {128, 77 * 128, 4 * 77 * 128}));
  CHECK(is(state.map.box, {64, 64, 1, 1}));
  CHECK(is(state.map.steps, {1, 1, 1, 1}));
  CHECK(state.map.interleave == 0);
  CHECK(state.map.swizzle == 3);  // 128 bytes
  CHECK(state.map.fill == 0);     // zeros
  CHECK(args().v_blocks == 0);
  CHECK(args().q_blocks == 0);
  CHECK(state.log[state.launches - 1].map == static_cast<unsigned long long>(state.maps));

  // [tokens][heads] and a head dim short of the padded one, in place too; 96 wants chunks of 64 bytes.
  sage_attention_problem other = plain;
  other.head_dim = 80;
  for (sage_strides* const s : {&other.q, &other.k, &other.v, &other.out}) *s = {100 * 640, 80, 640, 1};
  REQUIRE(launch(other) == SAGE_OK);
  CHECK(state.map.base == args().v);
  CHECK(is(state.map.extents, {80, 77, 4, 2}));
  CHECK(is(state.map.strides, {1280, 160, 128000}));
  CHECK(state.map.box[0] == 32);
  CHECK(state.map.swizzle == 2);

  // What the engine can't read: backwards, the same head for all, no multiple of 16 bytes, elements apart, another type.
  const auto copied = [&](const sage_attention_problem& problem, const sage_attention_buffers* given = nullptr) {
    REQUIRE(launch(problem, given) == SAGE_OK);
    CHECK(state.map.base == args().vt);
    CHECK(args().v_blocks > 0);
    CHECK(is(state.map.extents, {64, 128, 4, 2}));
    CHECK(is(state.map.strides, {128, 128 * 128, 4 * 128 * 128}));
  };
  other = plain;
  other.v.token = -64;
  copied(other);
  other.v = {0, 0, 64, 1};
  copied(other);
  other.v = {4 * 77 * 68, 77 * 68, 68, 1};
  copied(other);
  other.v = {4 * 77 * 32, 77 * 32, 32, 1};  // every row begins in the middle of the one before
  copied(other);
  other.v = {4 * 77 * 64, 77 * 64, 1, 77};
  copied(other);
  other = plain;
  other.io_type = SAGE_IO_BF16;
  copied(other);
  std::uint64_t bytes = 0;
  REQUIRE(sage_attention_workspace(holder.context, &plain, &bytes, &error) == SAGE_OK);
  sage_attention_buffers odd = sample_buffers(bytes);
  odd.v = reinterpret_cast<void*>(0x30002);
  copied(plain, &odd);

  // One of everything: strides mean nothing.
  other = plain;
  other.batch = other.kv_heads = other.kv_len = 1;
  other.v = {-8, -8, -8, 1};
  REQUIRE(launch(other) == SAGE_OK);
  CHECK(is(state.map.strides, {16, 16, 16}));
  // fp8 has V transposed, and no keys need no map.
  const int before = state.maps;
  other = plain;
  other.pv_type = SAGE_PV_TYPE_FP8;
  REQUIRE(launch(other) == SAGE_OK);
  other = plain;
  other.kv_len = 0;
  REQUIRE(launch(other) == SAGE_OK);
  CHECK(state.maps == before);

  state.map_result = 1;
  CHECK(launch(plain) == SAGE_E_DRIVER);
  CHECK(std::string{error.text}.find("cuTensorMapEncodeTiled") != std::string::npos);
  CHECK(state.launches == 0);
}

TEST_CASE("an alternative and the prologue are kernels enough") {
  // As a tuning tries them: else the objects would be taken for those of another architecture.
  sage_error error{};
  const FakeDriver driver{FAKE_CUDA};
  for (const device::Tile& tile : device::alternative_table) {
    if (tile.family != device::Family::sm90) continue;
    CAPTURE(tile.kernel);
    ObjectSpec spec = cubin_spec(90);
    spec.kernels.resize(4);
    spec.kernels[3].name = tile.kernel;
    spec.kernels[3].max_threads = static_cast<std::uint32_t>(tile.threads());
    ContextHolder holder;
    REQUIRE_MESSAGE(make_context({cubin(spec)}, holder, &error) == SAGE_OK, error.text);
    sage_context_info info{};
    REQUIRE(sage_context_describe(holder.context, &info, &error) == SAGE_OK);
    CHECK(info.kernel_count == 1);
  }
}

TEST_CASE("the kernels of sm_90 need a driver that knows tensor maps") {
  sage_error error{};
  const FakeDriver driver{FAKE_CUDA_11};
  CHECK(make({cubin(90)}, error) == SAGE_E_RUNTIME_SYMBOL);
  CHECK(std::string{error.text}.find("CUDA 12") != std::string::npos);
  CHECK(make({ptx(80)}, error) == SAGE_OK);  // other kernels do without
}

TEST_CASE("fp8 follows the architecture of NVIDIA GPUs") {
  sage_error error{};
  const FakeDriver driver{FAKE_CUDA};
  sage_attention_problem problem = sample_problem();
  problem.pv_type = SAGE_PV_TYPE_FP8;
  std::uint64_t bytes = 0;
  struct Case {
    int major, minor;
    unsigned sm;
    sage_status expected;
  };
  for (const Case& c : {Case{8, 0, 80, SAGE_E_PV_UNAVAILABLE}, Case{8, 9, 89, SAGE_OK}, Case{9, 0, 90, SAGE_OK}}) {
    driver.state->major = c.major;
    driver.state->minor = c.minor;
    ContextHolder holder;
    REQUIRE(make_context({cubin(c.sm)}, holder, &error) == SAGE_OK);
    CHECK(sage_attention_workspace(holder.context, &problem, &bytes, &error) == c.expected);
  }
}
