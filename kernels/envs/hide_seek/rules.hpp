// The rules: actions before physics runs, rewards after it.
//
//   before   loads from the first three heads; each agent finds what it can grab or lock; then
//            locks and grips, agent by agent, so that the outcome has one order
//   after    agents lose their velocity (where the profile says so); seekers look about; rewards
//
// The first step of an episode has number 1. In steps 1 to preparation_steps seekers are frozen and
// nobody is paid.
#pragma once

#include "envs/hide_seek/sight.hpp"
#include "physics/closest_points.hpp"
#include "physics/joints.hpp"
#include "physics/queries.hpp"

namespace gpu_envs::envs::hide_seek {

inline constexpr int kNeutral = 5;  // bucket of no force

/// The heads grab and lock; both false where an agent is frozen.
struct Hands {
  bool grab, lock;
};
/// The rules in a build with room for T.
template <class T>
struct Rules {
  using W = World<Schema<T>>;
  using Players = typename Tables<T>::Players;
  using Bodies = typename Tables<T>::Bodies;
  using Joints = typename Tables<T>::Joints;
  using Spots = typename Tables<T>::Spots;
  using BodyRows = Rows<Bodies, Body>;
  using VelocityRows = Rows<Bodies, Velocity>;
  using OwnerRows = Rows<Bodies, Owner>;
  using JointRows = Rows<Joints, Joint>;

  /// The current step is counted already, so the first is 1.
  static GE_FN bool preparing(const W& w) {
    return int64_t(w.step()) <= int64_t(w.varied_in_place().preparation_steps);
  }
  static GE_FN bool is_frozen(const W& w, int agent) {
    return !is_hider(w.params(), agent) & preparing(w);
  }

  // ---- moving

  static GE_FN void apply_loads(const W& w, Slot self, physics::Load& load, const Pose& pose) {
    const Params& p = w.params();
    load = physics::Load{};
    if (self.row >= p.agent_count || is_frozen(w, self.row)) return;
    const Act act = get<Players, Act>(w, self.row);
    Vec3 ahead = facing(pose);
    if (p.world_frame != 0) ahead = {0.0f, 1.0f, 0.0f};
    // Right is (ahead.y, -ahead.x). In the openai profile `ahead` is +y, so right is +x.
    const Derived& v = w.varied_in_place();
    const float x = float(act.x - kNeutral) * v.force, y = float(act.y - kNeutral) * v.force;
    load.force[0] = ahead.y * x + ahead.x * y;
    load.force[1] = ahead.y * y - ahead.x * x;
    load.torque[2] = float(act.turn - kNeutral) * v.torque;
  }
  /// For note_travel(): after the step agents have no velocity to show.
  static GE_FN void remember(const W& w, Slot agent, Before& before) {
    const Pose pose = get<Bodies, Pose>(w, agent.row);
    const Vec3 ahead = facing(pose);
    physics::put(before.position, physics::vec(pose.position));
    before.ahead[0] = ahead.x, before.ahead[1] = ahead.y;
  }

  // ---- reach

  static GE_FN Hands hands_of(const W& w, int agent) {
    const Act act = get<Players, Act>(w, agent);
    const bool idle = (w.params().frozen_hands != 0) & is_frozen(w, agent);
    return {act.grab == 1 && !idle, act.lock == 1 && !idle};
  }

  /// Aims at the box or ramp that a ray ahead meets first.
  static GE_FN void aim_ahead(const W& w, int agent, Aim& aim) {
    const Params& p = w.params();
    const Pose pose = get<Bodies, Pose>(w, agent);
    const Derived& v = w.varied_in_place();
    const Vec3 eye = physics::vec(pose.position) + Vec3{0.0f, 0.0f, v.reach_height};
    const physics::Rays<float> ray{eye, facing(pose)};
    const physics::Hit met =
        physics::first_hit<Model<T>>(w, ray, max(v.grab_reach, v.lock_reach), agent);
    if (met.row < p.first_box || met.row >= p.body_count) return;  // an agent, a wall, nothing
    // The ray ends at the first surface of any kind: nothing is grabbed through a wall or an agent.
    aim.distance = met.distance;
    aim.grab = select(met.distance < v.grab_reach, met.row, -1);
    aim.lock = select(met.distance < v.lock_reach, met.row, -1);
  }

  /// From a point to the surface of an object; 0 inside.
  static GE_FN float distance_to(const W& w, int row, Vec3 point) {
    const physics::Kind& kind = shape_of(w.params(), get<Bodies, Body>(w, row));
    const physics::Placed hull = physics::placed_body<Model<T>>(w, row, kind);
    const Vec3 local = physics::to_body(hull.turn, point - hull.at);
    return physics::length(local - physics::clamped_to(hull, local));
  }
  /// Every object that is near and seen can be locked, the nearest of them grabbed. As in the
  /// original, reach is from the centre, whichever way the agent faces, but only visible objects
  /// count.
  static GE_FN void aim_around(const W& w, int agent, Aim& aim) {
    const Params& p = w.params();
    const Pose pose = get<Bodies, Pose>(w, agent);
    const Vec3 centre = physics::vec(pose.position);
    const Derived& v = w.varied_in_place();
    float nearest = infinity<float>();
    for (int first = p.first_box; first < p.body_count; first += kPack) {
      float distance[kPack];
      bool any = false;
      for (int k = 0; k < kPack; ++k) {
        const bool there = Senses<T>::is_there(w, first + k);
        distance[k] = there ? distance_to(w, first + k, centre) : infinity<float>();
        any = any | (distance[k] < max(v.grab_reach, v.lock_reach));
      }
      if (!any) continue;
      const Floats seen = Senses<T>::look(w, agent, first);
      for (int k = 0; k < kPack; ++k) {
        if (lane(seen, k) == 0.0f) continue;
        const int object = first + k - p.first_box;
        if (distance[k] < v.lock_reach) aim.near[object >> 5] |= 1u << (object & 31);
        // Ties in distance go to the lower row.
        const bool best = (distance[k] < v.grab_reach) & (distance[k] < nearest);
        aim.grab = select(best, first + k, aim.grab);
        nearest = select(best, distance[k], nearest);
      }
    }
  }
  static GE_FN void take_aim(const W& w, Slot agent, Aim& aim) {
    aim = {-1, -1, 0.0f, {0, 0}};
    if (!Senses<T>::is_there(w, agent.row)) return;
    if (w.params().radial != 0) {
      aim_around(w, agent.row, aim);
      return;
    }
    const Hands hands = hands_of(w, agent.row);
    if (hands.grab | hands.lock) aim_ahead(w, agent.row, aim);
  }

  // ---- locks and grips

  /// The columns that hands change, for the functions below. One lane calls them, agent after
  /// agent, since two may want the same box.
  struct Grips {
    const W& w;
    BodyRows bodies;
    VelocityRows velocities;
    OwnerRows owners;
    JointRows joints;

    /// Locked and unlocked things begin at rest and awake.
    GE_FN void set_lock(int row, bool locked, Owner owner) const {
      Body body = bodies.get(row);
      // Awake, or a body unlocked in the air would hang there.
      body.state = physics::kPresent | (locked ? uint32_t(physics::kLocked) : 0u);
      body.quiet = 0;
      bodies.set(row, body);
      owners.set(row, owner);
      velocities.set(row, Velocity{});
    }
    GE_FN void hold(int agent, int row, Vec3 at) const {
      Body body = bodies.get(row);
      body.state &= ~uint32_t(physics::kAsleep);
      body.quiet = 0;
      bodies.set(row, body);
      const Pose mine = get<Bodies, Pose>(w, agent);
      const Pose its = get<Bodies, Pose>(w, row);
      joints.set(agent, physics::joint_between(physics::kFixedJoint, uint32_t(agent), uint32_t(row),
                                               mine, its, at));
    }
    GE_FN void release(int agent) const {
      Joint none{};
      // The quaternion of no rotation, as in a new level.
      none.relative[0] = 1.0f;
      joints.set(agent, none);
    }
    GE_FN bool holds(int agent) const { return joints.get(agent).type != physics::kNoJoint; }
  };

  /// A press locks a body that no team owns, and unlocks one that the agent's team has locked. A
  /// held body may be locked: the grip stays, and then holds the agent to it.
  static GE_FN void toggle_lock(const Grips& grips, int agent, int row) {
    const Owner owner = grips.owners.get(row);
    const Team team = team_of(grips.w.params(), agent);
    const bool locked = (grips.bodies.get(row).state & physics::kLocked) != 0;
    if (locked & (owner.team == team))
      grips.set_lock(row, false, Owner{});
    else if (!locked & (owner.team == kNobody))
      grips.set_lock(row, true, {team, uint32_t(agent + 1)});
  }
  /// A press lets go of the held body; with empty hands it takes the one ahead, if it can be moved.
  static GE_FN void toggle_grip(const Grips& grips, int agent, const Aim& aim) {
    if (grips.holds(agent)) return grips.release(agent);
    if (aim.grab < 0 || !physics::movable(grips.bodies.get(aim.grab))) return;
    const Pose pose = get<Bodies, Pose>(grips.w, agent);
    const float height = grips.w.varied_in_place().reach_height;
    const Vec3 eye = physics::vec(pose.position) + Vec3{0.0f, 0.0f, height};
    grips.hold(agent, aim.grab, eye + facing(pose) * aim.distance);
  }
  /// The grip lasts while the head is 1.
  static GE_FN void keep_grip(const Grips& grips, int agent, const Aim& aim, bool wanted) {
    if (!wanted) {
      if (grips.holds(agent)) grips.release(agent);
    } else if (!grips.holds(agent) && aim.grab >= 0 &&
               (grips.w.params().radial != 0 || physics::movable(grips.bodies.get(aim.grab)))) {
      const Pose pose = get<Bodies, Pose>(grips.w, agent);
      grips.hold(agent, aim.grab, physics::vec(pose.position));
    }
  }

  /// The team rule for one object: it is locked where somebody near wants it and nobody near of the
  /// owner's team declines; a member of the owner's team near it that declines unlocks it. A body
  /// that was never locked belongs to the hiders.
  static GE_FN void vote_lock(const Grips& grips, int object) {
    const Params& p = grips.w.params();
    const int row = p.first_box + object;
    if (!physics::present(grips.bodies.get(row))) return;
    const Owner owner = grips.owners.get(row);
    Team owners = owner.agent == 0 ? kHiders : team_of(p, int(owner.agent) - 1);
    if (owner.team != kNobody) owners = Team(owner.team);  // locked by a layout
    int first = -1;
    bool declined = false;
    // Backwards, so that `first` ends as the lowest agent that wants it and gets the lock.
    for (int agent = p.agent_count - 1; agent >= 0; --agent) {
      const Aim aim = get<Players, Aim>(grips.w, agent);
      if ((aim.near[object >> 5] >> (object & 31) & 1u) == 0) continue;
      const bool wants = hands_of(grips.w, agent).lock;
      first = select(wants, agent, first);
      declined = declined | (!wants & (team_of(p, agent) == owners));
    }
    const bool locked = (grips.bodies.get(row).state & physics::kLocked) != 0;
    if (declined & locked)
      grips.set_lock(row, false, {kNobody, owner.agent});
    else if (!declined & !locked & (first >= 0))
      grips.set_lock(row, true, {team_of(p, first), uint32_t(first + 1)});
  }

  /// Agent by agent, the lock before the grip.
  static GE_FN void use_hands(const W& w, BodyRows bodies, VelocityRows velocities,
                              OwnerRows owners, JointRows joints) {
    const Params& p = w.params();
    const Grips grips{w, bodies, velocities, owners, joints};
    if (p.radial != 0)
      for (int row = p.first_box; row < p.body_count; ++row) vote_lock(grips, row - p.first_box);
    for (int agent = 0; agent < p.agent_count; ++agent) {
      const Hands hands = hands_of(w, agent);
      const Aim aim = get<Players, Aim>(w, agent);
      if ((p.radial == 0) & hands.lock & (aim.lock >= 0)) toggle_lock(grips, agent, aim.lock);
      if (p.holds != 0)
        keep_grip(grips, agent, aim, hands.grab);
      else if (hands.grab)
        toggle_grip(grips, agent, aim);
    }
  }

  // ---- after physics

  /// Agents are positioned, not thrown: only a fall goes on.
  static GE_FN void stop_agents(const W& w, Slot self, Velocity& velocity) {
    const Params& p = w.params();
    if ((self.row >= p.agent_count) | (p.stops == 0)) return;
    // As in the batch version, so an action is a way to go; what was pushed keeps its speed.
    velocity = {{0.0f, 0.0f, min(velocity.linear[2], 0.0f)}, {0.0f, 0.0f, 0.0f}};
  }
  static GE_FN void note_travel(const W& w, Slot agent, Travel& travel, const Before& before) {
    const Params& p = w.params();
    const Pose pose = get<Bodies, Pose>(w, agent.row);
    const Velocity velocity = get<Bodies, Velocity>(w, agent.row);
    if ((p.stops == 0) | (p.moving_agents == 0)) {
      physics::put(travel.velocity, physics::vec(velocity.linear));
      travel.turn = velocity.angular[2];
      return;
    }
    const float rate = 1.0f / p.shapes.time_step;
    const Vec3 way = physics::vec(pose.position) - physics::vec(before.position);
    physics::put(travel.velocity, way * rate);
    const Vec3 ahead = facing(pose);
    // From the two directions, not from yaws, whose difference would jump at a half turn.
    const float sine = before.ahead[0] * ahead.y - before.ahead[1] * ahead.x;
    const float cosine = before.ahead[0] * ahead.x + before.ahead[1] * ahead.y;
    travel.turn = atan2(sine, cosine) * rate;
  }

  // ---- rewards

  static GE_FN bool is_paid(const W& w) { return !preparing(w); }
  static GE_FN int32_t spotted(const W&, const Spot& spot) { return spot.value != 0.0f ? 1 : 0; }
  static GE_FN void note_seen(const W&, int32_t any, Watch& watch) { watch.seen = any; }
  /// Whether a hider is seen by anyone, or a seeker sees any.
  static GE_FN bool is_involved(const W& w, int agent) {
    const Params& p = w.params();
    const bool hides = is_hider(p, agent);
    bool found = false;
    for (int other = 0; other < (hides ? p.seeker_count : p.hider_count); ++other) {
      const int seeker = hides ? other : agent - p.hider_count, hider = hides ? agent : other;
      found = found | (get<Spots, Spot>(w, seeker * kSpots + hider).value != 0.0f);
    }
    return found;
  }
  /// Hiders are paid for not being seen, seekers for seeing; agents outside the arena are fined.
  static GE_FN void pay(const W& w, Slot agent, Reward& reward) {
    const Params& p = w.params();
    if (preparing(w)) return;
    const Pose pose = get<Bodies, Pose>(w, agent.row);
    // By what the whole team shows or sees, or by what this agent does.
    const bool seen = p.own_pay != 0 ? is_involved(w, agent.row) : get<Watch>(w).seen != 0;
    const Derived& v = w.varied_in_place();
    const float hiders = seen ? -1.0f : 1.0f;
    reward.value = is_hider(p, agent.row) ? hiders : -hiders;
    const bool outside =
        (abs(pose.position[0]) >= v.penalty_bound) | (abs(pose.position[1]) >= v.penalty_bound);
    const float fined = p.penalty_instead != 0 ? -v.penalty : reward.value - v.penalty;
    reward.value = select(outside, fined, reward.value);
  }

  using BeforePhysics = Stages<Each<&apply_loads>, Each<&remember>, Each<&physics::stand<Model<T>>>,
                               Each<&take_aim>, EachWorld<&use_hands>>;
  using AfterPhysics = Stages<Each<&stop_agents>, Each<&note_travel>,
                              When<&is_paid, Each<&physics::stand<Model<T>>>,
                                   ForPacks<&Senses<T>::spot_rows, &Senses<T>::spot, Spots>,
                                   Reduce<&spotted, AnyOf, &note_seen>>,
                              Each<&pay>>;
};

}  // namespace gpu_envs::envs::hide_seek
