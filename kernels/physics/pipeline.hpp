// One step of a world of bodies, as stages: `Pipeline<Model>::Step`. The environment writes loads
// before it, and reads velocities and poses after it.
//
// Once per step: values written from outside are clamped, and joints are coloured. Once per round,
// of which a long step has several: wake bodies, broad phase. Then in every substep contacts are
// found again, and solved as in constraint.hpp. Contacts with the floor run by bodies; contacts and
// joints of two bodies run by colours.
//
// Why the stages run in this order:
//
//   touch before push       approach speeds are those before gravity, else resting bodies bounce
//   floor before pairs      touch_floor narrows the bounds that is_close tests pairs by
//   warm start in push      after the loads: the first sweep corrects a guess that knows them
//   joints, contacts, floor the last overrules: joints stretch before walls are entered
//   positions between       the biased sweep's push moves bodies apart, the relaxed sweep takes it
//   the sweeps              out of their velocities: overlap is undone without adding speed
//   bounce last             it must not be relaxed away; kept after it, for the warm start
#pragma once

#include "physics/broad_phase.hpp"
#include "physics/contact_solver.hpp"
#include "physics/floor.hpp"
#include "physics/integrate.hpp"
#include "physics/joints.hpp"
#include "physics/sleep.hpp"

namespace ge::physics {

template <class M>
struct Pipeline {
  using W = WorldOf<M>;
  using P = typename M::Physics;

  static GE_FN int rounds(const typename M::Schema::Params& params) {
    return M::setup(params).rounds;
  }
  static GE_FN int substeps_of_round(const typename M::Schema::Params& params) {
    return M::setup(params).substeps / M::setup(params).rounds;
  }
  static GE_FN int sweeps(const typename M::Schema::Params& params) {
    return M::setup(params).solver_sweeps;
  }
  static GE_FN bool sleeps(const W& w) { return setup_of<M>(w).quiet_steps > 0; }

  template <auto F>
  using EachAwake = EachWhere<&is_awake<M>, F>;

  // Joints after bodies, whose presence they ask for; colours after both.
  using Prepare = Stages<Each<&mend_body<M>>, Each<&mend_joint<M>>, Each<&stir<M>>,
                         EachWorld<&colour_joints<M>>>;
  // Sleepers are woken along the pairs of bodies before walls are searched: only awake bodies look
  // for statics. Frames come after waking, as a sleeper's has no inverse mass.
  using Begin =
      Stages<Each<&bound_body<M>>, Each<&find_bodies<M>>, When<&sleeps, EachWorld<&wake<M>>>,
             EachAwake<&find_statics<M>>, Each<&frame_body<M>>, EachWorld<&list_pairs<M>>>;

  // For clears a row before it writes it: rows without points, or without a match, are zeros.
  using Touch =
      Stages<EachAwake<&touch_floor<M>>,
             Emit<&pair_count<M>, &is_close<M>, &bring_close<M>, typename P::Close>,
             For<&close_count<M>, &touch<M>, typename P::Contacts>, EachWorld<&colour_contacts<M>>>;
  using Push =
      Stages<EachAwake<&integrate_velocity<M>>, Coloured<&joint_colour_count<M>, &warm_joint<M>>,
             Coloured<&colour_count<M>, &warm_contact<M>>>;
  // One sweep carries a push one contact far; the impulses of the last substep do the rest. In a
  // high stack they come too late, and feed its sway: it needs a second sweep.
  template <Sweep kSweep>
  using Solve =
      Stages<Repeat<&Pipeline::sweeps, Coloured<&joint_colour_count<M>, &solve_joint<kSweep, M>>,
                    Coloured<&colour_count<M>, &solve_contact<kSweep, M>>,
                    EachWhere<&stands<M>, &solve_floor<kSweep, M>>>>;
  using Bounce = Stages<Coloured<&colour_count<M>, &bounce_contact<M>>,
                        EachWhere<&stands<M>, &bounce_floor<M>>,
                        For<&close_count<M>, &keep<M>, typename P::Kept>>;

  // Repeat takes its stages one by one, so the list is opened up.
  template <class L>
  struct Substeps;
  template <class... X>
  struct Substeps<Stages<X...>> {
    using type = Stages<Repeat<&Pipeline::substeps_of_round, X...>>;
  };
  template <class L>
  struct Rounds;
  template <class... X>
  struct Rounds<Stages<X...>> {
    using type = Stages<Repeat<&Pipeline::rounds, X...>>;
  };
  using Substep = chain<Touch, Push, Solve<kBiased>, Stages<EachAwake<&integrate_position<M>>>,
                        Solve<kRelaxed>, Bounce>;
  using End = Stages<EachAwake<&limit_velocity<M>>, EachAwake<&count_quiet<M>>,
                     When<&sleeps, EachWorld<&sleep<M>>>>;

  using Round = chain<Begin, typename Substeps<Substep>::type>;
  using Step = chain<Prepare, typename Rounds<Round>::type, End>;
};

}  // namespace ge::physics
