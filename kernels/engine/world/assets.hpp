// Assets: memory that all worlds of a simulator share and no rule writes, made once, on the host,
// from the parameters or from a data file: levels, maps, tables of constants. A Schema names them:
//
//   struct Assets {
//     Asset<Level> levels;  // Level: a described plain struct, as a component
//     Asset<float> weights;
//   };
//   struct Schema {
//     using Assets = maze::Assets;
//     static Assets make_assets(const Params& params, AssetMaker& make);  // simulator/assets.hpp
//     ...
//   };
//
// Rules read them by value, `w.assets().levels[k]`. Their addresses never change, so captured
// graphs stay valid; a world that moves to another level keeps its number in the record.
#pragma once

#include <span>
#include <type_traits>

#include "engine/base/platform.hpp"

namespace ge {

/// An array of a simulator's assets, of at least one element.
template <class T>
struct Asset {
  const T* at = nullptr;
  int64_t count = 0;

  Asset() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): `.levels = make.array<Level>("levels", 100)`
  Asset(std::span<T> made) : at(made.data()), count(int64_t(made.size())) {}

  /// Element k, clamped to the valid range: a record may be set to any number.
  GE_FN T operator[](int64_t k) const {
    const int64_t last = count - 1;
    const int64_t within = k > last ? last : k;
    return at[within < 0 ? 0 : within];
  }
};

/// The assets of an environment that names none.
struct NoAssets {};

template <class S>
struct AssetsOf {
  using type = NoAssets;
};
template <class S>
  requires requires { typename S::Assets; }
struct AssetsOf<S> {
  using type = typename S::Assets;
  static_assert(std::is_trivially_copyable_v<type> && sizeof(type) % sizeof(Asset<char>) == 0 &&
                    alignof(type) == alignof(Asset<char>),
                "GE: Assets has members of type Asset<T> and no others");
};
template <class S>
inline constexpr bool has_assets = requires { typename S::Assets; };

}  // namespace ge
