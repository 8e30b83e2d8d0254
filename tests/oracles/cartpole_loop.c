/* CartPole as a plain C loop: what a careful programmer writes without an engine, as a peer for the
 * benchmark.
 *
 * float32 state, one struct per world, libm's sinf and cosf, resets in the same step from a
 * generator per world (xorshift), limits and rewards as in the rules; observations, rewards and
 * flags go to arrays. It keeps no final observations and no episode statistics, so it has less to
 * write than an environment with all its outputs.
 *
 *   cc -O3 -shared -fPIC -o cartpole_loop.so cartpole_loop.c -lm
 */
#include <math.h>
#include <stdint.h>

typedef struct {
  float x, velocity, angle, spin;
  uint32_t random;
  int32_t step;
} World;

/* Bytes of one world; the caller owns the memory. */
int64_t world_bytes(void) { return (int64_t)sizeof(World); }

static float uniform(World *w) { /* in [-0.05, 0.05) */
  w->random ^= w->random << 13;
  w->random ^= w->random >> 17;
  w->random ^= w->random << 5;
  return -0.05f + 0.1f * ((float)(w->random >> 8) * 0x1p-24f);
}

static void begin(World *w) {
  w->x = uniform(w);
  w->velocity = uniform(w);
  w->angle = uniform(w);
  w->spin = uniform(w);
  w->step = 0;
}

static void show(const World *w, float *obs) {
  obs[0] = w->x;
  obs[1] = w->velocity;
  obs[2] = w->angle;
  obs[3] = w->spin;
}

void reset_all(World *worlds, int64_t count, uint32_t seed, float *obs) {
  for (int64_t i = 0; i < count; ++i) {
    worlds[i].random = (seed + (uint32_t)i) * 2654435761u + 1u;
    if (worlds[i].random == 0) worlds[i].random = 1u; /* where xorshift would stay */
    for (int k = 0; k < 8; ++k) uniform(&worlds[i]);
    begin(&worlds[i]);
    show(&worlds[i], obs + 4 * i);
  }
}

void step_all(World *worlds, int64_t count, const int64_t *actions, float *obs, float *reward,
              uint8_t *terminated, uint8_t *truncated) {
  const float gravity = 9.8f, pole_mass = 0.1f, total_mass = 1.1f;
  const float half_length = 0.5f, pole_moment = 0.05f;
  const float time_step = 0.02f, x_limit = 2.4f, angle_limit = 0.20943951f;
  for (int64_t i = 0; i < count; ++i) {
    World *w = &worlds[i];
    const float force = actions[i] == 1 ? 10.0f : -10.0f;
    const float c = cosf(w->angle), s = sinf(w->angle);
    const float t = (force + pole_moment * (w->spin * w->spin) * s) / total_mass;
    const float grip = half_length * (4.0f / 3.0f - pole_mass * (c * c) / total_mass);
    const float spin_rate = (gravity * s - c * t) / grip;
    const float acceleration = t - pole_moment * spin_rate * c / total_mass;
    w->x += time_step * w->velocity;
    w->velocity += time_step * acceleration;
    w->angle += time_step * w->spin;
    w->spin += time_step * spin_rate;
    w->step += 1;
    const uint8_t fell = w->x < -x_limit || w->x > x_limit ||
                         w->angle < -angle_limit || w->angle > angle_limit;
    const uint8_t late = w->step >= 500;
    reward[i] = 1.0f;
    terminated[i] = fell;
    truncated[i] = late;
    if (fell || late) begin(w);
    show(w, obs + 4 * i);
  }
}
