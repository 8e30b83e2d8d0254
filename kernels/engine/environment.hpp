// What an environment's header includes: everything it may name, and nothing of any machine.
#pragma once

#include "engine/build.hpp"
#include "engine/channels.hpp"
#include "engine/episode.hpp"
#include "engine/graph.hpp"
#include "engine/math.hpp"
#include "engine/random.hpp"
#include "engine/world.hpp"
