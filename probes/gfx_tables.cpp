#include "probes/gfx_tables.hpp"

namespace sage {}
