// The counter on a hand-made listing with a known answer.
#include <doctest/doctest.h>

#include <string>

#include "disassembly.hpp"
#include "model.hpp"

using namespace sage::model;

namespace {

// A loop from +0x10 to +0x50: matrix, a branch over a mask, a branch over a rescale body, matrix, the way back.
constexpr std::string_view listing = R"(
kernels.hsaco:	file format elf64-amdgpu

Disassembly of section .text:

0000000000001000 <first>:
	v_wmma_i32_16x16x16_iu8 v[0:7], v[8:9], v[10:11], v[0:7]   // 000000001000: CC444000 1C021508
	s_endpgm                                                   // 000000001008: BFB00000

0000000000002000 <second>:
	v_mov_b32_e32 v0, 0                                        // 000000002000: 7E000280
	s_mov_b32 s0, 0                                            // 000000002004: BE800080
	v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]  // 000000002010: CC404000 1C021908
	s_wait_dscnt 0x0                                           // 000000002018: BFC60000
	s_cbranch_scc1 1                                           // 00000000201C: BFA20001 <second+0x24>
	s_branch 2                                                 // 000000002020: BFA00002 <second+0x2c>
	v_cndmask_b32_e32 v1, v2, v3                               // 000000002024: 02020702
	v_cndmask_b32_e32 v1, v2, v3                               // 000000002028: 02020702
	v_exp_f32_e32 v5, v5                                       // 00000000202C: 7E0A4B05
	s_cbranch_vccz 3                                           // 000000002030: BFA30003 <second+0x40>
	v_exp_f32_e32 v4, v4                                       // 000000002034: 7E084B04
	v_mul_f32_e32 v6, v4, v6                                   // 000000002038: 100C0D04
	v_mul_f32_e32 v7, v4, v7                                   // 00000000203C: 100E0F04
	v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7] // 000000002040: CC464000 1C021508
	s_delay_alu instid0(VALU_DEP_1)                            // 000000002048: BF870001
	s_cbranch_scc0 65519                                       // 00000000204C: BFA1FFEF <second+0x10>
	s_endpgm                                                   // 000000002050: BFB00000
)";

}  // namespace

TEST_CASE("functions, instructions and branch targets") {
  const Functions functions = parse_listing(listing);
  REQUIRE(functions.size() == 2);
  CHECK(functions.at("first").size() == 2);
  const auto& second = functions.at("second");
  REQUIRE(second.size() == 17);
  CHECK(second[2].mnemonic == "v_wmma_f32_16x16x16_f16");
  CHECK(second[4].target == 0x2024);
  CHECK(second[15].target == 0x2010);
  CHECK(second[16].target == -1);
}

TEST_CASE("the loop is found and its ways are counted") {
  const LoopCount count_second = count(parse_listing(listing).at("second"));
  CHECK(count_second.matrix.f16 == 1);
  CHECK(count_second.matrix.fp8 == 1);
  CHECK(count_second.matrix.int8 == 0);
  CHECK(count_second.whole_kernel.total() == 2);
  // wmma, wait, branch, branch over the mask, exp, branch over the rescale body, wmma, delay, way back
  CHECK(count_second.hot == 9);
  CHECK(count_second.waits == 2);
  CHECK(count_second.rescale == 3);
  CHECK(count_second.rare == 2);
}

TEST_CASE("a kernel without a loop") {
  const LoopCount none = count(parse_listing(listing).at("first"));
  CHECK(none.whole_kernel.int8 == 1);
  CHECK(none.matrix.total() == 0);
  CHECK(none.hot == 0);
}

TEST_CASE("occupancy and model, against figures known for trial kernels") {
  using sage::device::Family;
  using sage::device::Length;
  using sage::device::PvType;
  sage::device::Tile eight_waves{Family::gfx12, 128, PvType::fp8, Length::short_q, 8, 1, 64, 2, 2, 0, ""};
  sage::device::Tile sixteen_waves = eight_waves;
  sixteen_waves.waves = 16;
  const Machine& gfx1201 = *find_machine("gfx1201");
  CHECK(occupancy(gfx1201, eight_waves, 160, 38912) == 6);    // by LDS
  CHECK(occupancy(gfx1201, sixteen_waves, 168, 38912) == 9);  // by registers
  CHECK(occupancy(gfx1201, eight_waves, 96, 0) == 16);
  CHECK(occupancy(gfx1201, eight_waves, 128, 0) == 10);
  CHECK(occupancy(*find_machine("gfx1102"), eight_waves, 96, 0) == 10);
  CHECK(occupancy(*find_machine("gfx1102"), eight_waves, 128, 0) == 8);
  LoopCount loop;
  loop.matrix.fp8 = 64;
  loop.hot = 776 + 0;
  CHECK(modelled_fraction(gfx1201, loop) == doctest::Approx(512.0 / (512.0 + 712.0)));
  CHECK(find_machine("gfx1030") == nullptr);
}
