// What stands around the C++ of the pages, so that a compiler can read it: a namespace for each
// fragment, and in it only what the fragment names. `// >>> PAGE N.M` stands for part M of block N;
// a line of `...` ends a part. A line of the page that has `...` somewhere stands here in full.

#include <string>
#include <tuple>

#include "cameras/draw.hpp"
#include "engine/environment.hpp"
#include "physics/pipeline.hpp"
#include "physics/setup.hpp"

namespace gpu_envs::envs {

using namespace ge;

namespace yard {
struct Params;
struct Settings {};
struct Push {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("way", &Push::way, "of the push").one_of(5));
  }
};
struct Owner {
  int32_t player;
  static constexpr auto describe() {
    return fields(field("player", &Owner::player, "who").any_value());
  }
};
struct Players : Agents<4, Push> {
  static constexpr const char* name = "players";
};
struct Schema;
void load(const World<Schema>& w, physics::Load& load);
void pay(const World<Schema>& w, Reward& reward);
struct Params {
  physics::Setup physics;
};
// >>> docs/physics.md 1.1
  using Settings = yard::Settings;
  using Params = yard::Params;
  using Action = Push;
  using Agent = Players;
// >>> docs/physics.md 1.2
enum Kind { kFloor, kWall, kCrate, kRamp, kPlayer };
inline Params resolve() {
  Params p{};
  // >>> docs/physics.md 2.1
  return p;
}
static_assert(sizeof(Step) > 0);
}  // namespace yard

namespace my_env {
inline constexpr int kRocks = 40, kAgents = 2;
struct Params;
struct Settings;
struct Turn {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("way", &Turn::way, "of the turn").one_of(3));
  }
};
struct Pose {
  float at[3], yaw, pitch;
  static constexpr auto describe() {
    return fields(field("at", &Pose::at, "of the eye"), field("yaw", &Pose::yaw, "to the left"),
                  field("pitch", &Pose::pitch, "upwards"));
  }
};
struct Rock {
  float at[3], radius;
  static constexpr auto describe() {
    return fields(field("at", &Rock::at, "place"), field("radius", &Rock::radius, "size"));
  }
};
struct Walkers : Agents<kAgents, Turn, Pose> {
  static constexpr const char* name = "walkers";
};
struct Rocks : Fixed<kRocks, Rock> {
  static constexpr const char* name = "rocks";
};
struct Solids;
struct Schema;
using W = World<Schema>;
int solid_count(const W& w);
void turn(const W& w, Pose& pose, const Turn& turn);
// >>> docs/writing_an_environment.md 1.1
struct Schema {
  using Settings = my_env::Settings;
  using Params = my_env::Params;
  using Action = Turn;
  using Agent = Walkers;
  using tables = Types<Walkers, Rocks, Solids>;
  static Params resolve(Settings& settings) { return my_env::resolve(settings); }
};
// >>> docs/writing_an_environment.md 1.2
struct Environment {
  using Schema = my_env::Schema;
  using Observation = my_env::Observation;
  using Reset = Stages<>;
  using Step = Stages<Each<&turn>>;
  // >>> docs/writing_an_environment.md 1.3
  static constexpr Card card{.doc = "A walk.", .max_episode_steps = 20};
};
using Builds = ge::Builds<Build<"MyEnv-v0", Environment>>;
static_assert(sizeof(Environment::Observe) > 0);

// >>> docs/writing_an_environment.md 2.1
struct Telling {
  // >>> docs/writing_an_environment.md 2.2
};
static_assert(sizeof(Telling::Observe) > 0);
}  // namespace my_env

namespace country {
struct Order {
  int32_t kind;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("kind", &Order::kind, "of it").one_of(3));
  }
};
struct Wealth {
  float sum;
  static constexpr auto describe() { return fields(field("sum", &Wealth::sum, "of all")); }
};
struct GovernorView {
  float wealth;
  static constexpr auto describe() {
    return fields(field("wealth", &GovernorView::wealth, "of all"));
  }
};
struct GovernorMask {
  uint8_t legal[3];
  static constexpr auto describe() {
    return fields(field("legal", &GovernorMask::legal, "1: it may be given").within(0, 1));
  }
};
struct Governors : Agents<5, Order> {
  static constexpr const char* name = "governors";
};
struct Planners : Agents<1, Order> {
  static constexpr const char* name = "planners";
};
struct Country : Single<Wealth> {
  static constexpr const char* name = "country";
};
struct Schema;
using W = World<Schema>;
void observe_governor(const W& w, GovernorView& view, Slot me);
void mask_governor(const W& w, GovernorMask& mask, Slot me);
void observe_planner(const W& w, GovernorView& view, Slot me);
// >>> docs/writing_an_environment.md 3.1
struct Planner {
  static constexpr const char* name = "planner";
  using Agent = Planners;
  using Action = Order;
  using Observation = GovernorView;
};
// >>> docs/writing_an_environment.md 3.2
};
// >>> docs/writing_an_environment.md 3.3
                       ObserveAs<Planner, &observe_planner>>;
static_assert(sizeof(Observe) > 0);
}  // namespace country

namespace maze {
inline constexpr int kCells = 64;
struct Params {
  int32_t maze_count = 12;
};
struct Maze {
  uint8_t rows[8];
  static constexpr auto describe() { return fields(field("rows", &Maze::rows, "walls, by bits")); }
};
// >>> docs/writing_an_environment.md 4.1
    mazes[0].rows[0] = uint8_t(file[0]);
// >>> docs/writing_an_environment.md 4.2
};
}  // namespace maze

namespace cart {
struct Motion {};
struct Push {};
struct Schema;
using W = World<Schema>;
// >>> docs/writing_an_environment.md 5.1
}  // namespace cart

namespace board {
inline constexpr const char* kNames[] = {"left", "right"};
struct Move {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() { return fields(field("way", &Move::way, "of it").one_of(2)); }
};
struct Players : Agents<1, Move> {
  static constexpr const char* name = "players";
};
struct Params {};
struct Schema {
  using Params = board::Params;
  using Action = Move;
  using Agent = Players;
  using tables = Types<Players>;
  // >>> docs/writing_an_environment.md 7.1
};
std::string board_text(const World<Schema>& w, int viewer);
struct Environment {
  // >>> docs/writing_an_environment.md 6.1
};
}  // namespace board

namespace forms {
template <class T>
struct Schema {};
struct Motion {};
struct Push {};
// >>> docs/writing_an_environment.md 8.1
    m = Motion{};
// >>> docs/writing_an_environment.md 8.2
template <class T>
struct Environment {
  // >>> docs/writing_an_environment.md 8.3
};
}  // namespace forms

}  // namespace gpu_envs::envs
