// TEMPORARY, until the engine has SortRows.
#pragma once
#include "engine/call.hpp"
namespace ge {
inline constexpr int kAny = INT32_MAX;
struct Sorted { uint32_t row; static constexpr auto describe() { return fields(field("row", &Sorted::row, "row")); } };
struct First { uint32_t place; static constexpr auto describe() { return fields(field("place", &First::place, "place")); } };
}
namespace ge::spatial {
template <class M> struct Tables; struct Position;
template <class M, auto kKey>
GE_FN void sort_now(const World<typename M::Schema>& w, Rows<typename Tables<M>::Starts, First> starts, Rows<typename Tables<M>::Order, Sorted> order) {
  using P = Position;
  const int n = M::count(w.params()), cells = Tables<M>::Starts::count(w.params()) - 1;
  for (int k = 0; k <= cells; ++k) starts.set(k, {0});
  for (int i = 0; i < n; ++i) { const uint32_t k = kKey(w, w.template get<typename M::Agents, P>(i)); starts.set(int(k), {starts.get(int(k)).place + 1}); }
  uint32_t sum = 0;
  for (int k = 0; k <= cells; ++k) { sum += starts.get(k).place; starts.set(k, {sum}); }
  for (int i = n; i-- > 0;) { const uint32_t k = kKey(w, w.template get<typename M::Agents, P>(i)); const uint32_t at = starts.get(int(k)).place - 1; starts.set(int(k), {at}); order.set(int(at), {uint32_t(i)}); }
}
}
