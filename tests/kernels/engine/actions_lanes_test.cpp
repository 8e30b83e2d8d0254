// Actions of every type in the kernels of the group executor, on emulated lanes: converted there,
// the bad ones made safe and counted, as a GPU does it.
#include "engine/checking/lanes_entry.hpp"
//
#include "action_types.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(actions_of_every_type_are_converted_by_any_number_of_lanes) {
  for (const int lanes : {1, 8, 64})
    action_types::check_all(lanes_entry<action_types::Made>(), lanes);
}
