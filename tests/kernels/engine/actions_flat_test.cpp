// Actions of every type in the jobs of the flat executor: converted there, the bad ones made safe
// and counted, as a GPU does it.
#include "engine/checking/flat_entry.hpp"
//
#include "action_types.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(actions_of_every_type_are_converted_row_by_row) {
  action_types::check_all(flat_entry<action_types::Made>());
}
