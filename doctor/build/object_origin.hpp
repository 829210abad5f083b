#pragma once

#include <array>

#include "probes/base/enum_names.hpp"

namespace sage {

/// Where a code object comes from.
enum class ObjectOrigin { compiled, cached, prebuilt };

template <>
inline constexpr auto enum_names<ObjectOrigin> = std::to_array<EnumName<ObjectOrigin>>({
    {ObjectOrigin::compiled, "compiled"},
    {ObjectOrigin::cached, "cached"},
    {ObjectOrigin::prebuilt, "prebuilt"},
});

}  // namespace sage
