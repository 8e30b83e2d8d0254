// The `shuffled` machine of the tests. Built with GE_BLOCK=1.
#pragma once

#include "engine/checking/shuffled.hpp"

namespace ge {

template <class E>
struct ShuffledFactory {
  static std::unique_ptr<Simulator> make(Plan<E> plan) {
    return std::make_unique<HostSimulator<E, ShuffledRunner>>(std::move(plan));
  }
};

template <class B>
const Entry& shuffled_entry() {
  return EntryOf<ShuffledFactory, B>::entry();
}

}  // namespace ge
