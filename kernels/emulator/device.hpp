// The device text as host code: the emulated builtins first, then the same headers that a GPU compiler reads. Include in one source file
// of a test, with one of SAGE_EMULATED_GFX12, _GFX11, _GFX90A, _GFX942, _NVIDIA, _SM90 defined. (No #pragma once guard inside the device text: it is
// written to be concatenated.)
#pragma once
#include <vector>

#include "amd_builtins.hpp"
#include "machine.hpp"
#include "ptx.hpp"

#define SAGE_EMULATED 1
#if defined(SAGE_EMULATED_SM90)
#define SAGE_EMULATED_NVIDIA 1
#endif
// clang-format off: the order is the order of the amalgamated text.
#include "../device/params.hpp"
#include "../device/tiles.hpp"
#include "../device/alternatives.hpp"
#include "../device/platform.hpp"
#include "../device/rounding.hpp"
#include "../device/amd.hpp"
#include "../device/copy.hpp"
#include "../device/rdna.hpp"
#include "../device/gfx12.hpp"
#include "../device/gfx11.hpp"
#include "../device/gfx9.hpp"
#include "../device/ptx.hpp"
#include "../device/nvidia_tiles.hpp"
#include "../device/nvidia_rows.hpp"
#include "../device/nvidia.hpp"
#include "../device/hopper.hpp"
#include "../device/attention_room.hpp"
#include "../device/attention_store.hpp"
#include "../device/attention.hpp"
#include "../device/prologue.hpp"
#include "../device/nvidia_prologue.hpp"
#include "../device/kernels.hpp"
// clang-format on
