// See furniture.hpp.
#include "houses/furniture.hpp"

#include <algorithm>
#include <array>

#include "houses/make_ground.hpp"

namespace ge::houses {

namespace {

constexpr float kGap = 0x1.9p-5f;      // to a wall behind a piece: 5 cm, snapped to 1/256
constexpr float kAround = 0.3515625f;  // around pieces that stand free [m]
constexpr float kFront = 0.5f;         // before pieces at a wall [m]
constexpr float kBeforeDoor = 0.75f;   // kept free on both sides of an opening [m]
constexpr int kTries = 24;             // places to try for a piece

/// Colours of a piece: what a template calls wood is some wood.
enum Slot : int32_t { kWood, kCloth, kWhite, kMetal, kDark, kLeaves, kAccent, kSlots };
constexpr uint32_t kPalettes[kSlots][4] = {
    {0x9c6b3f, 0x6f4a2d, 0xc49a6c, 0x4f3627}, {0x5b6c8f, 0x8f5b5b, 0x7d8a5b, 0xb8a88f},
    {0xe8e4dc, 0xf2f2ee, 0xdcd6c8, 0xe0e4e8}, {0x9aa0a6, 0x7c8288, 0xb8bcc0, 0x6a6e74},
    {0x2b2b30, 0x38332e, 0x23282e, 0x2e2723}, {0x3f7a3a, 0x55883f, 0x2f6640, 0x6b9a4a},
    {0xb5482f, 0x2f6fb5, 0xd8a93a, 0x7a3f8f}};

/// Makes the parts of a piece: x to the right, y away from what is behind it, z up.
class Carpenter {
 public:
  Carpenter(float wide, float deep, Dice& dice) : wide_(wide), deep_(deep), dice_(dice) {
    for (int slot = 0; slot < kSlots; ++slot)
      colours_[size_t(slot)] = kPalettes[slot][dice.below(4)];
  }
  float wide() const { return wide_; }
  float deep() const { return deep_; }
  float least() const { return min(wide_, deep_); }
  Dice& dice() { return dice_; }

  void box(float x0, float y0, float z0, float x1, float y1, float z1, Slot slot) {
    add(kBoxPart, x0, y0, z0, x1, y1, z1, slot);
  }
  /// Adds a box that is as wide as the whole piece of furniture.
  void slab(float y0, float z0, float y1, float z1, Slot slot) {
    box(0, y0, z0, wide_, y1, z1, slot);
  }
  void round(float x, float y, float radius, float z0, float z1, Slot slot) {
    add(kRoundPart, x - radius, y - radius, z0, x + radius, y + radius, z1, slot);
  }
  /// Four legs below `top`.
  void legs(float top, float thick, Slot slot) {
    for (const float x : {0.0f, wide_ - thick})
      for (const float y : {0.0f, deep_ - thick}) box(x, y, 0, x + thick, y + thick, top, slot);
  }
  std::vector<Part> parts;

 private:
  void add(PartShape shape, float x0, float y0, float z0, float x1, float y1, float z1, Slot slot) {
    parts.push_back({shape, {x0, y0, z0}, {x1, y1, z1}, colours_[size_t(slot)]});
  }
  float wide_, deep_;
  Dice& dice_;
  std::array<uint32_t, kSlots> colours_{};
};
using C = Carpenter;

// ---- templates

void bed(C& c) {
  c.slab(0, 0, 0.06f, 0.95f, kWood);
  c.box(0, 0.06f, 0.12f, c.wide(), c.deep(), 0.3f, kWood);
  c.box(0.03f, 0.08f, 0.3f, c.wide() - 0.03f, c.deep() - 0.03f, 0.5f, kWhite);
  c.box(0.01f, 0.7f, 0.42f, c.wide() - 0.01f, c.deep() - 0.01f, 0.54f, kCloth);
  c.box(0.12f, 0.14f, 0.5f, c.wide() - 0.12f, 0.5f, 0.6f, kWhite);
  c.legs(0.12f, 0.06f, kDark);
}
void wardrobe(C& c) {
  c.slab(0, 0, c.deep() - 0.02f, 2.05f, kWood);
  const float half = 0.5f * c.wide();
  c.box(0.01f, c.deep() - 0.02f, 0.1f, half - 0.005f, c.deep(), 2.0f, kWood);
  c.box(half + 0.005f, c.deep() - 0.02f, 0.1f, c.wide() - 0.01f, c.deep(), 2.0f, kWood);
}
void nightstand(C& c) {
  c.slab(0, 0.08f, c.deep(), 0.5f, kWood);
  c.legs(0.08f, 0.04f, kDark);
  c.round(0.5f * c.wide(), 0.5f * c.deep(), 0.03f, 0.5f, 0.75f, kMetal);
  c.round(0.5f * c.wide(), 0.5f * c.deep(), 0.1f, 0.75f, 0.92f, kWhite);
}
void dresser(C& c) {
  c.slab(0, 0.08f, c.deep() - 0.02f, 0.85f, kWood);
  c.legs(0.08f, 0.05f, kDark);
  for (int k = 0; k < 3; ++k)
    c.box(0.02f, c.deep() - 0.02f, 0.12f + 0.24f * float(k), c.wide() - 0.02f, c.deep(),
          0.33f + 0.24f * float(k), kWood);
}
void chair_at(C& c, float x, float y, float way) {
  c.box(x - 0.2f, y - 0.2f, 0.42f, x + 0.2f, y + 0.2f, 0.46f, kWood);
  c.box(x - 0.2f, y + way * 0.2f - 0.02f, 0.46f, x + 0.2f, y + way * 0.2f + 0.02f, 0.92f, kWood);
  for (const float dx : {-0.18f, 0.14f})
    for (const float dy : {-0.18f, 0.14f})
      c.box(x + dx, y + dy, 0, x + dx + 0.04f, y + dy + 0.04f, 0.42f, kWood);
}
void desk(C& c) {
  const float deep = c.deep() - 0.45f;
  c.box(0, 0, 0.72f, c.wide(), deep, 0.75f, kWood);
  for (const float x : {0.0f, c.wide() - 0.04f})
    c.box(x, 0.02f, 0, x + 0.04f, deep - 0.02f, 0.72f, kDark);
  c.box(0.5f * c.wide() - 0.27f, 0.08f, 0.86f, 0.5f * c.wide() + 0.27f, 0.11f, 1.18f, kDark);
  c.box(0.5f * c.wide() - 0.04f, 0.08f, 0.75f, 0.5f * c.wide() + 0.04f, 0.12f, 0.86f, kDark);
  chair_at(c, 0.5f * c.wide(), deep + 0.22f, 1.0f);
}
void sofa(C& c) {
  c.box(0, 0, 0.08f, c.wide(), c.deep(), 0.42f, kCloth);
  c.slab(0, 0.42f, 0.24f, 0.85f, kCloth);
  for (const float x : {0.0f, c.wide() - 0.18f})
    c.box(x, 0, 0.42f, x + 0.18f, c.deep(), 0.62f, kCloth);
  const int seats = std::max(1, int(c.wide() / 0.75f));
  const float seat = (c.wide() - 0.36f) / float(seats);
  for (int k = 0; k < seats; ++k)
    c.box(0.19f + seat * float(k), 0.24f, 0.42f, 0.17f + seat * float(k + 1), c.deep() - 0.02f,
          0.5f, kCloth);
  c.legs(0.08f, 0.06f, kDark);
}
void coffee_table(C& c) {
  c.box(0, 0, 0.38f, c.wide(), c.deep(), 0.42f, kWood);
  c.legs(0.38f, 0.05f, kDark);
  c.box(0.2f * c.wide(), 0.3f * c.deep(), 0.42f, 0.5f * c.wide(), 0.7f * c.deep(), 0.45f, kAccent);
}
void screen_bench(C& c) {
  c.slab(0, 0.05f, c.deep(), 0.45f, kWood);
  c.legs(0.05f, 0.05f, kDark);
  c.box(0.5f * c.wide() - 0.12f, 0.1f, 0.45f, 0.5f * c.wide() + 0.12f, 0.3f, 0.52f, kDark);
  c.box(0.12f * c.wide(), 0.16f, 0.52f, 0.88f * c.wide(), 0.22f, 1.1f, kDark);
}
void bookshelf(C& c) {
  const float high = c.dice().within(1.2f, 2.1f);
  for (const float x : {0.0f, c.wide() - 0.03f}) c.box(x, 0, 0, x + 0.03f, c.deep(), high, kWood);
  c.slab(0, 0, 0.02f, high, kWood);
  const int boards = int(high / 0.35f) + 1;
  for (int k = 0; k < boards; ++k) {
    const float z = 0.05f + (high - 0.08f) * float(k) / float(boards - 1);
    c.box(0.03f, 0.02f, z - 0.015f, c.wide() - 0.03f, c.deep(), z + 0.015f, kWood);
    if (k + 1 == boards) break;
    for (float x = 0.05f; x < c.wide() - 0.3f;) {
      const float wide = c.dice().within(0.1f, 0.24f);
      const Slot slot = std::array{kAccent, kCloth, kDark, kWhite}[size_t(c.dice().below(4))];
      if (c.dice().chance(0.8f))
        c.box(x, 0.04f, z + 0.015f, x + wide, c.deep() - 0.06f, z + c.dice().within(0.18f, 0.28f),
              slot);
      x += wide + 0.01f;
    }
  }
}
void floor_lamp(C& c) {
  const float x = 0.5f * c.wide(), y = 0.5f * c.deep();
  c.round(x, y, 0.15f, 0, 0.03f, kMetal);
  c.round(x, y, 0.02f, 0.03f, 1.4f, kMetal);
  c.round(x, y, 0.18f, 1.4f, 1.68f, kWhite);
}
void plant(C& c) {
  const float x = 0.5f * c.wide(), y = 0.5f * c.deep(), high = c.dice().within(0.7f, 1.5f);
  c.round(x, y, 0.16f, 0, 0.34f, kAccent);
  c.round(x, y, 0.03f, 0.34f, high - 0.1f, kWood);
  for (int k = 0; k < 6; ++k) {
    const float dx = c.dice().within(-0.16f, 0.0f), dy = c.dice().within(-0.16f, 0.0f);
    const float z = c.dice().within(0.36f, high - 0.2f);
    c.box(x + dx, y + dy, z, x + dx + 0.16f, y + dy + 0.16f, z + 0.2f, kLeaves);
  }
}
void side_table(C& c) {
  const float x = 0.5f * c.wide(), y = 0.5f * c.deep();
  c.round(x, y, 0.5f * c.least(), 0.5f, 0.53f, kWood);
  c.round(x, y, 0.04f, 0.03f, 0.5f, kMetal);
  c.round(x, y, 0.4f * c.least(), 0, 0.03f, kMetal);
}
void counter(C& c) {
  c.slab(0, 0.1f, c.deep() - 0.03f, 0.88f, kWhite);
  c.box(0, 0.05f, 0, c.wide(), c.deep() - 0.08f, 0.1f, kDark);
  c.slab(0, 0.88f, c.deep(), 0.92f, kWood);
  const int doors = std::max(1, int(c.wide() / 0.6f));
  const float wide = c.wide() / float(doors);
  for (int k = 0; k < doors; ++k)
    c.box(wide * float(k) + 0.01f, c.deep() - 0.03f, 0.13f, wide * float(k + 1) - 0.01f,
          c.deep() - 0.01f, 0.85f, kWhite);
  c.slab(0, 1.45f, 0.35f, 2.1f, kWhite);
  c.box(0.3f * c.wide(), 0.14f, 0.92f, 0.3f * c.wide() + 0.5f, c.deep() - 0.14f, 0.925f, kMetal);
}
void fridge(C& c) {
  c.slab(0, 0, c.deep() - 0.04f, 1.8f, kMetal);
  c.box(0.01f, c.deep() - 0.04f, 0.05f, c.wide() - 0.01f, c.deep(), 0.6f, kMetal);
  c.box(0.01f, c.deep() - 0.04f, 0.62f, c.wide() - 0.01f, c.deep(), 1.78f, kMetal);
}
void stove(C& c) {
  c.slab(0, 0, c.deep(), 0.9f, kMetal);
  c.box(0.05f, c.deep() - 0.01f, 0.2f, c.wide() - 0.05f, c.deep(), 0.7f, kDark);
  for (const float x : {0.28f, 0.72f})
    for (const float y : {0.3f, 0.72f})
      c.round(x * c.wide(), y * c.deep(), 0.09f, 0.9f, 0.915f, kDark);
}
void dining(C& c) {
  const float y0 = 0.5f, y1 = c.deep() - 0.5f;
  c.box(0, y0, 0.72f, c.wide(), y1, 0.76f, kWood);
  for (const float x : {0.06f, c.wide() - 0.12f})
    for (const float y : {y0 + 0.06f, y1 - 0.12f})
      c.box(x, y, 0, x + 0.06f, y + 0.06f, 0.72f, kWood);
  const int seats = std::max(1, int(c.wide() / 0.6f));
  for (int k = 0; k < seats; ++k) {
    const float x = c.wide() * (float(k) + 0.5f) / float(seats);
    chair_at(c, x, 0.28f, -1.0f), chair_at(c, x, c.deep() - 0.28f, 1.0f);
  }
}
void bin(C& c) {
  c.round(0.5f * c.wide(), 0.5f * c.deep(), 0.5f * c.least(), 0, 0.5f, kMetal);
}
void toilet(C& c) {
  c.slab(0, 0.38f, 0.2f, 0.8f, kWhite);
  c.box(0.1f, 0.1f, 0, c.wide() - 0.1f, c.deep() - 0.12f, 0.36f, kWhite);
  c.box(0.02f, 0.2f, 0.36f, c.wide() - 0.02f, c.deep(), 0.43f, kWhite);
}
void tub(C& c) {
  c.box(0, 0, 0, c.wide(), 0.08f, 0.55f, kWhite);
  c.box(0, c.deep() - 0.08f, 0, c.wide(), c.deep(), 0.55f, kWhite);
  for (const float x : {0.0f, c.wide() - 0.08f})
    c.box(x, 0.08f, 0, x + 0.08f, c.deep() - 0.08f, 0.55f, kWhite);
  c.box(0.08f, 0.08f, 0, c.wide() - 0.08f, c.deep() - 0.08f, 0.15f, kWhite);
}
void basin(C& c) {
  c.slab(0, 0, c.deep(), 0.7f, kWood);
  c.slab(0, 0.7f, c.deep(), 0.86f, kWhite);
  c.round(0.5f * c.wide(), 0.12f, 0.02f, 0.86f, 1.05f, kMetal);
  c.box(0.05f, 0, 1.2f, c.wide() - 0.05f, 0.02f, 1.95f, kMetal);
}
void shower(C& c) {
  c.box(0, 0, 0, c.wide(), c.deep(), 0.1f, kWhite);
  c.slab(0, 0.1f, 0.02f, 2.1f, kMetal);
  c.box(0, 0, 0.1f, 0.02f, c.deep(), 2.1f, kMetal);
  c.box(c.wide() - 0.02f, 0.3f, 0.1f, c.wide(), c.deep(), 2.1f, kMetal);
}
void washer(C& c) {
  c.slab(0, 0, c.deep() - 0.02f, 0.85f, kWhite);
  c.box(0.25f * c.wide(), c.deep() - 0.02f, 0.25f, 0.75f * c.wide(), c.deep(), 0.6f, kDark);
}
void basket(C& c) {
  c.box(0, 0, 0, c.wide(), c.deep(), 0.5f, kCloth);
}
void cabinet(C& c) {
  c.slab(0, 0.1f, c.deep() - 0.02f, 1.0f, kWood);
  c.box(0.02f, c.deep() - 0.02f, 0.14f, c.wide() - 0.02f, c.deep(), 0.96f, kWood);
  c.legs(0.1f, 0.05f, kDark);
  c.round(0.3f * c.wide(), 0.5f * c.deep(), 0.08f, 1.0f, 1.3f, kAccent);
}
void shoe_bench(C& c) {
  c.slab(0, 0.4f, c.deep(), 0.45f, kWood);
  c.slab(0, 0.14f, c.deep(), 0.17f, kWood);
  c.legs(0.4f, 0.04f, kWood);
  c.box(0.1f, 0.05f, 0.17f, 0.36f, c.deep() - 0.03f, 0.28f, kDark);
}
void coat_stand(C& c) {
  const float x = 0.5f * c.wide(), y = 0.5f * c.deep();
  c.round(x, y, 0.2f, 0, 0.04f, kWood);
  c.round(x, y, 0.03f, 0.04f, 1.8f, kWood);
  c.box(x - 0.2f, y - 0.16f, 0.8f, x + 0.2f, y + 0.16f, 1.7f, kCloth);
}
void stacked_boxes(C& c) {
  const float high = c.dice().within(0.3f, 0.5f);
  c.box(0, 0, 0, c.wide(), c.deep(), high, kWood);
  c.box(0.1f, 0.05f, high, c.wide() - 0.08f, c.deep() - 0.1f, high + c.dice().within(0.2f, 0.4f),
        kWood);
}
void armchair(C& c) {
  sofa(c);
}
void stool(C& c) {
  c.round(0.5f * c.wide(), 0.5f * c.deep(), 0.5f * c.least(), 0.4f, 0.46f, kAccent);
  c.legs(0.4f, 0.04f, kWood);
}
void piano(C& c) {
  c.slab(0, 0, 0.35f, 1.25f, kDark);
  c.slab(0.35f, 0.65f, c.deep(), 0.75f, kDark);
  c.box(0.05f, 0.36f, 0.75f, c.wide() - 0.05f, c.deep() - 0.03f, 0.765f, kWhite);
  c.legs(0.65f, 0.07f, kDark);
}
void rug(C& c) {
  c.box(0, 0, 0, c.wide(), c.deep(), 0.012f, kCloth);
  c.box(0.15f, 0.15f, 0, c.wide() - 0.15f, c.deep() - 0.15f, 0.014f, kAccent);
}

constexpr int kIn(RoomKind kind) {
  return 1 << kind;
}
constexpr int kAnywhere = (1 << kRoomKinds) - 1;

struct Template {
  const char* name;
  int rooms;               // bits of the kinds of rooms
  float weight;            // how often it is tried
  float wide[2], deep[2];  // [m]
  enum { kAtWall, kFree, kEither, kFlat } place;
  int most;  // in a room
  void (*make)(Carpenter&);
};
constexpr Template kTemplates[] = {
    {"bed", kIn(kBedroom), 6, {0.9f, 1.8f}, {2.0f, 2.1f}, Template::kAtWall, 1, bed},
    {"wardrobe",
     kIn(kBedroom) | kIn(kHall),
     3,
     {0.9f, 2.0f},
     {0.55f, 0.65f},
     Template::kAtWall,
     2,
     wardrobe},
    {"nightstand",
     kIn(kBedroom),
     3,
     {0.4f, 0.5f},
     {0.35f, 0.45f},
     Template::kAtWall,
     2,
     nightstand},
    {"dresser", kIn(kBedroom), 2, {0.8f, 1.4f}, {0.45f, 0.5f}, Template::kAtWall, 1, dresser},
    {"desk",
     kIn(kBedroom) | kIn(kLiving),
     2,
     {1.0f, 1.6f},
     {1.1f, 1.2f},
     Template::kAtWall,
     1,
     desk},
    {"sofa", kIn(kLiving), 6, {1.5f, 2.4f}, {0.85f, 0.95f}, Template::kEither, 2, sofa},
    {"armchair",
     kIn(kLiving) | kIn(kBedroom),
     3,
     {0.8f, 0.95f},
     {0.8f, 0.9f},
     Template::kEither,
     2,
     armchair},
    {"coffee table", kIn(kLiving), 3, {0.8f, 1.2f}, {0.5f, 0.7f}, Template::kFree, 1, coffee_table},
    {"screen", kIn(kLiving), 3, {1.2f, 2.0f}, {0.4f, 0.5f}, Template::kAtWall, 1, screen_bench},
    {"bookshelf",
     kIn(kLiving) | kIn(kBedroom) | kIn(kHall),
     3,
     {0.6f, 1.6f},
     {0.28f, 0.36f},
     Template::kAtWall,
     3,
     bookshelf},
    {"floor lamp",
     kIn(kLiving) | kIn(kBedroom),
     2,
     {0.36f, 0.4f},
     {0.36f, 0.4f},
     Template::kEither,
     2,
     floor_lamp},
    {"plant", kAnywhere, 2, {0.34f, 0.4f}, {0.34f, 0.4f}, Template::kEither, 2, plant},
    {"side table",
     kIn(kLiving) | kIn(kBedroom),
     1,
     {0.45f, 0.6f},
     {0.45f, 0.6f},
     Template::kEither,
     1,
     side_table},
    {"piano", kIn(kLiving), 1, {1.4f, 1.5f}, {0.6f, 0.65f}, Template::kAtWall, 1, piano},
    {"counter", kIn(kKitchen), 8, {1.2f, 3.0f}, {0.6f, 0.62f}, Template::kAtWall, 2, counter},
    {"fridge", kIn(kKitchen), 5, {0.6f, 0.75f}, {0.62f, 0.68f}, Template::kAtWall, 1, fridge},
    {"stove", kIn(kKitchen), 5, {0.6f, 0.62f}, {0.6f, 0.62f}, Template::kAtWall, 1, stove},
    {"dining table",
     kIn(kKitchen) | kIn(kLiving),
     4,
     {1.0f, 1.9f},
     {1.7f, 1.9f},
     Template::kFree,
     1,
     dining},
    {"bin",
     kIn(kKitchen) | kIn(kBathroom),
     2,
     {0.3f, 0.36f},
     {0.3f, 0.36f},
     Template::kEither,
     1,
     bin},
    {"stool",
     kIn(kKitchen) | kIn(kBathroom) | kIn(kHall),
     1,
     {0.36f, 0.4f},
     {0.36f, 0.4f},
     Template::kEither,
     2,
     stool},
    {"toilet", kIn(kBathroom), 6, {0.4f, 0.45f}, {0.65f, 0.7f}, Template::kAtWall, 1, toilet},
    {"tub", kIn(kBathroom), 4, {1.5f, 1.7f}, {0.7f, 0.8f}, Template::kAtWall, 1, tub},
    {"basin", kIn(kBathroom), 5, {0.6f, 1.2f}, {0.45f, 0.5f}, Template::kAtWall, 1, basin},
    {"shower", kIn(kBathroom), 2, {0.8f, 0.95f}, {0.8f, 0.95f}, Template::kAtWall, 1, shower},
    {"washer",
     kIn(kBathroom) | kIn(kKitchen),
     2,
     {0.6f, 0.62f},
     {0.6f, 0.62f},
     Template::kAtWall,
     1,
     washer},
    {"basket",
     kIn(kBathroom) | kIn(kBedroom),
     1,
     {0.4f, 0.5f},
     {0.3f, 0.4f},
     Template::kEither,
     1,
     basket},
    {"cabinet",
     kIn(kHall) | kIn(kLiving),
     2,
     {0.8f, 1.4f},
     {0.38f, 0.45f},
     Template::kAtWall,
     1,
     cabinet},
    {"shoe bench", kIn(kHall), 2, {0.8f, 1.1f}, {0.32f, 0.36f}, Template::kAtWall, 1, shoe_bench},
    {"coat stand", kIn(kHall), 2, {0.42f, 0.46f}, {0.42f, 0.46f}, Template::kEither, 1, coat_stand},
    {"boxes", kAnywhere, 1, {0.4f, 0.7f}, {0.35f, 0.5f}, Template::kEither, 2, stacked_boxes},
    {"rug",
     kIn(kLiving) | kIn(kBedroom) | kIn(kHall),
     1,
     {1.2f, 2.4f},
     {0.9f, 1.7f},
     Template::kFlat,
     1,
     rug},
};
constexpr int kKinds = int(sizeof kTemplates / sizeof *kTemplates);

/// A stretch of wall that faces a room: pieces stand before it.
struct Face {
  int room;
  int way;               // where its normal points: 0 +x, 1 +y, 2 -x, 3 -y
  float at, begin, end;  // across the normal; along the wall
};

class Decorator {
 public:
  Decorator(const Plan& plan, const Shell& shell, const Knobs& knobs, uint64_t seed)
      : plan_(plan),
        shell_(shell),
        dice_(seed, Name("furniture").hash()),
        things_(walls_of(shell)) {
    for (int y = 0; y < shell.rows(); ++y)
      for (int x = 0; x < shell.columns(); ++x)
        if (shell.at(x, y).room >= 0) floor_ += shell.rect(x, y).area();
    wanted_ = dice_.within(knobs.clutter_low, knobs.clutter_high) * floor_;
    keep_doors_free();
    find_faces();
    lost_ = walkable_of(shell_, things_).lost;
  }
  std::vector<Piece> run() {
    float covered = 0.0f;
    // Some rooms are full before others.
    for (int misses = 0; misses < 60 && covered < wanted_;) {
      const int room = dice_.below(plan_.room_count());
      Piece piece;
      if (place(room, piece)) {
        if (piece.stands) covered += piece.floor.area();
        pieces_.push_back(std::move(piece));
        misses = 0;
      } else {
        ++misses;
      }
    }
    return std::move(pieces_);
  }

 private:
  void keep_doors_free() {
    for (const Door& door : plan_.doors) {
      const float low = door.line - kHalfWall - kBeforeDoor,
                  high = door.line + kHalfWall + kBeforeDoor;
      free_.push_back(door.along_x ? Rect{door.begin - 0.125f, low, door.end + 0.125f, high}
                                   : Rect{low, door.begin - 0.125f, high, door.end + 0.125f});
    }
  }
  void find_faces() {
    const auto is_wall = [&](int x, int y) {
      return x >= 0 && x < shell_.columns() && y >= 0 && y < shell_.rows() &&
             shell_.at(x, y).is_wall;
    };
    constexpr int kDx[4] = {-1, 0, 1, 0}, kDy[4] = {0, -1, 0, 1};  // towards the wall
    for (int way = 0; way < 4; ++way) {
      const bool along_y = way % 2 == 0;
      const int lines = along_y ? shell_.columns() : shell_.rows();
      const int places = along_y ? shell_.rows() : shell_.columns();
      for (int line = 0; line < lines; ++line) {
        int open = -1;  // the room of a face that goes on
        for (int place = 0; place <= places; ++place) {
          const int x = along_y ? line : place, y = along_y ? place : line;
          int room = -1;
          if (place < places && shell_.at(x, y).room >= 0 && is_wall(x + kDx[way], y + kDy[way]))
            room = shell_.at(x, y).room;
          const std::vector<float>& along = along_y ? shell_.ys : shell_.xs;
          if (room != open) {
            if (open >= 0) faces_.back().end = along[size_t(place)];
            if (room >= 0) {
              const std::vector<float>& across = along_y ? shell_.xs : shell_.ys;
              const float at = across[size_t(line + (way >= 2 ? 1 : 0))];
              faces_.push_back({room, way, at, along[size_t(place)], 0.0f});
            }
            open = room;
          }
        }
      }
    }
  }

  /// Draws a template for a room; -1: none fits it.
  int draw_kind(int room) {
    const int kind_of_room = plan_.kinds[size_t(room)];
    float sum = 0.0f;
    std::array<float, size_t(kKinds)> weights{};
    for (int k = 0; k < kKinds; ++k) {
      const auto there = std::count_if(pieces_.begin(), pieces_.end(), [&](const Piece& p) {
        return p.room == room && p.kind == k;
      });
      const bool fits =
          (kTemplates[k].rooms >> kind_of_room & 1) != 0 && there < kTemplates[k].most;
      weights[size_t(k)] = fits ? kTemplates[k].weight : 0.0f;
      sum += weights[size_t(k)];
    }
    float drawn = dice_.share() * sum;
    for (int k = 0; k < kKinds; ++k) {
      drawn -= weights[size_t(k)];
      if (weights[size_t(k)] > 0.0f && drawn < 0.0f) return k;
    }
    return -1;
  }
  bool place(int room, Piece& piece) {
    const int kind = draw_kind(room);
    if (kind < 0) return false;
    const Template& t = kTemplates[kind];
    const float wide = snapped(dice_.within(t.wide[0], t.wide[1])),
                deep = snapped(dice_.within(t.deep[0], t.deep[1]));
    Carpenter carpenter(wide, deep, dice_);
    t.make(carpenter);
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const bool at_wall =
          t.place == Template::kAtWall || (t.place == Template::kEither && dice_.chance(0.7f));
      int way = dice_.below(4);
      Rect floor{};
      if (at_wall ? !at_some_wall(room, wide, deep, floor, way)
                  : !in_the_open(room, wide, deep, floor, way))
        continue;
      const bool stands = t.place != Template::kFlat;
      if (!is_fit(room, floor, at_wall, way, stands)) continue;
      piece = {kind, room, floor, stands, {}};
      for (const Part& part : carpenter.parts)
        piece.parts.push_back(turned(part, floor, way, wide, deep));
      if (stands) things_.push_back(floor);
      return true;
    }
    return false;
  }
  bool at_some_wall(int room, float wide, float deep, Rect& floor, int& way) {
    std::vector<const Face*> fitting;
    for (const Face& face : faces_)
      if (face.room == room && face.end - face.begin >= wide + 2.0f * kGap)
        fitting.push_back(&face);
    if (fitting.empty()) return false;
    const Face& face = *fitting[size_t(dice_.below(int(fitting.size())))];
    const float begin = snapped(dice_.within(face.begin + kGap, face.end - kGap - wide)),
                end = begin + wide;
    way = face.way;
    const float near = way < 2 ? face.at + kGap : face.at - kGap - deep, far = near + deep;
    floor = way % 2 == 0 ? Rect{near, begin, far, end} : Rect{begin, near, end, far};
    return true;
  }
  bool in_the_open(int room, float wide, float deep, Rect& floor, int way) {
    if (way % 2 == 0) std::swap(wide, deep);
    const int first = dice_.below(plan_.columns * plan_.rows);
    for (int k = 0; k < plan_.columns * plan_.rows; ++k) {
      const int square = (first + k) % (plan_.columns * plan_.rows);
      if (plan_.room[size_t(square)] != room) continue;
      const float x = snapped((float(square % plan_.columns) + dice_.share()) * plan_.side),
                  y = snapped((float(square / plan_.columns) + dice_.share()) * plan_.side);
      floor = {x, y, x + wide, y + deep};
      return true;
    }
    return false;
  }
  bool is_fit(int room, const Rect& floor, bool at_wall, int way, bool stands) {
    for (const Rect& door : free_)
      if (stands && floor.overlaps(door)) return false;
    for (int y = 0; y < shell_.rows(); ++y)
      for (int x = 0; x < shell_.columns(); ++x)
        if (shell_.at(x, y).room != room && shell_.rect(x, y).overlaps(floor)) return false;
    Rect around = floor;
    if (!at_wall) around = floor.grown(stands ? kAround : 0.0f);
    if (at_wall) {
      if (way == 0) around.high_x += kFront;
      if (way == 1) around.high_y += kFront;
      if (way == 2) around.low_x -= kFront;
      if (way == 3) around.low_y -= kFront;
    }
    for (const Piece& other : pieces_)
      if (other.stands == stands && other.floor.overlaps(stands ? around : floor)) return false;
    if (!stands) return true;
    if (!at_wall)
      for (const Rect& thing : things_)
        if (thing.overlaps(around)) return false;
    things_.push_back(floor);
    const Walkable walkable = walkable_of(shell_, things_);
    things_.pop_back();
    return !walkable.pinched && walkable.lost <= lost_;
  }
  /// A part where its piece stands: `way` is where the piece's front looks.
  static Part turned(const Part& part, const Rect& floor, int way, float wide, float deep) {
    Part made = part;
    const float x0 = part.low[0], x1 = part.high[0], y0 = part.low[1], y1 = part.high[1];
    const auto put = [&](float low_x, float high_x, float low_y, float high_y) {
      made.low[0] = floor.low_x + low_x, made.high[0] = floor.low_x + high_x;
      made.low[1] = floor.low_y + low_y, made.high[1] = floor.low_y + high_y;
    };
    if (way == 0) put(y0, y1, wide - x1, wide - x0);
    if (way == 1) put(x0, x1, y0, y1);
    if (way == 2) put(deep - y1, deep - y0, x0, x1);
    if (way == 3) put(wide - x1, wide - x0, deep - y1, deep - y0);
    return made;
  }

  const Plan& plan_;
  const Shell& shell_;
  Dice dice_;
  std::vector<Rect> things_;  // that stand: walls, then pieces
  std::vector<Rect> free_;    // before doors
  std::vector<Face> faces_;
  std::vector<Piece> pieces_;
  float floor_ = 0.0f, wanted_ = 0.0f, lost_ = 0.0f;  // [m^2]
};

}  // namespace

int kind_count() {
  return kKinds;
}
const char* name_of_kind(int kind) {
  return kTemplates[kind].name;
}

std::vector<Piece> furnish(const Plan& plan, const Shell& shell, const Knobs& knobs,
                           uint64_t seed) {
  return Decorator(plan, shell, knobs, seed).run();
}

}  // namespace ge::houses
